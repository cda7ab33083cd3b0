/** Example of the docs page `caching`. */
import { defineNuxtConfig } from 'nuxt/config'
import { responseCache } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      responseCache({ ttl: 60 }),
    ],
  },
})
