/** Example of the docs page `live`. */
import { defineNuxtConfig } from 'nuxt/config'
import { live } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      live(),
    ],
  },
})
