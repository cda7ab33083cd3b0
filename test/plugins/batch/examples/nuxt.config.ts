/** Example of the docs page `batch`. */
import { defineNuxtConfig } from 'nuxt/config'
import { batch } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      batch({ maxSteps: 20 }),
    ],
  },
})
