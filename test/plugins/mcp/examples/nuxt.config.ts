/** Example of the docs page `mcp`. */
import { defineNuxtConfig } from 'nuxt/config'
import { createModuleImport } from 'nuxt-auto-api'
import { apiTokens, mcp } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      apiTokens({ findUser: createModuleImport('~~/server/users', 'findUser') }),
      mcp({ write: true }),
    ],
  },
})
