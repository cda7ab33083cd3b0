/** Example of the docs page `files`. */
import { defineNuxtConfig } from 'nuxt/config'
import { fileUpload } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      fileUpload({
        resources: {
          posts: { cover: { accept: ['image/png', 'image/jpeg', 'image/webp'], maxSize: '5mb' } },
        },
      }),
    ],
  },
})
