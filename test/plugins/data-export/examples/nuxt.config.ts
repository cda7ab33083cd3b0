/** Example of the docs page `export`. */
import { defineNuxtConfig } from 'nuxt/config'
import { dataExport } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      dataExport(),
    ],
  },
})
