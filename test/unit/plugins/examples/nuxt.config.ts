/** Example of docs/plugins.md: a plugin factory in the config of an app. */
import { defineNuxtConfig } from 'nuxt/config'
import { createModuleImport } from '../../../../src/module'
import { outbox } from './outbox'

export default defineNuxtConfig({
  modules: [
    ['nuxt-auto-api', {
      plugins: [
        outbox({ table: createModuleImport('~~/server/schema', 'events') }),
      ],
    }],
  ],
})
