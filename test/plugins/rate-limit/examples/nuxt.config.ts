/** Example of the docs page `rate-limiting`. */
import { defineNuxtConfig } from 'nuxt/config'
import { rateLimit } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      rateLimit({ limit: 1000, operations: { aggregate: { limit: 20, window: 60 } } }),
    ],
  },
})
