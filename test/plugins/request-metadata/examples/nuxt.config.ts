/** Example of the docs page `request-metadata`. */
import { defineNuxtConfig } from 'nuxt/config'
import { requestMetadata } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      requestMetadata({ ip: 'prefix' }),
    ],
  },
})
