/** The newsroom: a small multi-tenant product on top of nuxt-auto-api. */
import { fileURLToPath } from 'node:url'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The module's own sources stand in for the installed package. */
const sources = {
  'nuxt-auto-api/define': here('../src/runtime/server/define'),
  'nuxt-auto-api': here('../src/module'),
}

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  devtools: { enabled: false },
  css: ['~/assets/newsroom.css'],
  runtimeConfig: {
    /** `DATABASE_FILE` in the environment of the server wins. */
    databaseFile: here('./.data/newsroom.sqlite'),
  },
  alias: sources,
  compatibilityDate: '2026-01-01',
  // Nuxt tells the aliases to TypeScript for app and server code, not for `modules/`.
  typescript: {
    nodeTsConfig: {
      compilerOptions: { paths: Object.fromEntries(Object.entries(sources).map(([name, path]) => [name, [path]])) },
    },
  },
  telemetry: false,
  // Tables with the column `organizationId` are tenant-scoped. The table of organizations does not have the column.
  autoApi: {
    multiTenancy: { excludedResources: ['organizations'] },
  },
})
