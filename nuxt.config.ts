/** Read by `nuxt-module-build prepare` only: it writes these aliases into the tsconfig that checks and builds the package. */
import { defineNuxtConfig } from 'nuxt/config'
import { packageAliases, virtualModules } from './test/support/aliases.ts'

export default defineNuxtConfig({
  // The types of Nuxt UI and of the modules that the admin generates.
  modules: [['@nuxt/ui', { fonts: false }], './src/admin'],
  alias: { ...packageAliases(), '#auto-api': virtualModules },
})
