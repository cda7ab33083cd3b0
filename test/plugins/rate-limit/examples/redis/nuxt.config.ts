/** Example of the docs page `rate-limiting`: one limit that several servers share. */
import { defineNuxtConfig } from 'nuxt/config'
import { rateLimit } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  nitro: {
    storage: { limits: { driver: 'redis', url: 'redis://127.0.0.1:6379' } },
  },
  autoApi: {
    plugins: [
      rateLimit({ limit: 1000, operations: { aggregate: { limit: 20, window: 60 } }, store: 'limits' }),
    ],
  },
})
