/** Example of the docs page `openapi`. */
import { defineNuxtConfig } from 'nuxt/config'
import { openApi } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      openApi({ access: true, info: { title: 'Newsroom', version: '1.0.0' }, reference: true }),
    ],
  },
})
