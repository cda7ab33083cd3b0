/** Example of the docs page `tokens`. */
import { defineNuxtConfig } from 'nuxt/config'
import { createModuleImport } from 'nuxt-auto-api'
import { apiTokens, tokenIntrospection } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      apiTokens({ findUser: createModuleImport('~~/server/users', 'findUser') }),
      tokenIntrospection(),
    ],
  },
})
