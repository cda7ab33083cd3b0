/** nuxt-auto-crud on libSQL, with its authorization and status filter. It needs a later Drizzle version, which it installs itself. */
import { fileURLToPath } from 'node:url'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineNuxtConfig({
  modules: ['@nuxthub/core', 'nuxt-auto-crud'],
  compatibilityDate: '2026-01-01',
  devtools: { enabled: false },
  telemetry: false,
  alias: { 'drizzle-orm': here('../node_modules/nuxt-auto-crud/node_modules/drizzle-orm') },
  hub: { db: 'sqlite' },
  autoCrud: { statusFiltering: true, auth: { authentication: true, authorization: true, ownerKey: 'authorId' } },
} as never)
