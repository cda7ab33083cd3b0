/** Example of the docs page `idempotency`. */
import { defineNuxtConfig } from 'nuxt/config'
import { idempotency } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      idempotency(),
    ],
  },
})
