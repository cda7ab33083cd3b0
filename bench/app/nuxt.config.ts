/** One built app with every kind of route that is compared: the same server, middleware, database and tables for all. */
import { fileURLToPath } from 'node:url'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The module's own sources stand in for the installed package. */
const sources = {
  'nuxt-auto-api/define': here('../../src/runtime/server/define'),
  'nuxt-auto-api': here('../../src/module'),
}

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  devtools: { enabled: false },
  alias: sources,
  compatibilityDate: '2026-01-01',
  typescript: {
    nodeTsConfig: {
      compilerOptions: { paths: Object.fromEntries(Object.entries(sources).map(([name, path]) => [name, [path]])) },
    },
  },
  telemetry: false,
  // Built twice in a full run: with few resources and with many.
  ...process.env.BENCH_OUTPUT && { buildDir: `${process.env.BENCH_OUTPUT}/build`, nitro: { output: { dir: process.env.BENCH_OUTPUT } } },
  autoApi: {
    multiTenancy: {},
  },
})
