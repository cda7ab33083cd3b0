/** Example of the docs page `webhooks`. */
import { defineNuxtConfig } from 'nuxt/config'
import { createModuleImport } from 'nuxt-auto-api'
import { webhooks } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      webhooks({ findUser: createModuleImport('~~/server/users', 'findUser') }),
    ],
  },
})
