/** The app with all compared routes, on the same server, middleware, database and tables. */
import { fileURLToPath } from 'node:url'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Uses the sources of the module instead of an installed package. */
const sources = {
  'nuxt-auto-api/define': here('../../src/runtime/server/define'),
  'nuxt-auto-api/plugins': here('../../src/runtime/plugins'),
  'nuxt-auto-api/schema/sqlite': here('../../src/runtime/plugins/schema-sqlite'),
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
  // A full run builds the app again for each row of `VARIANTS` in bench/variants.ts.
  ...process.env.BENCH_OUTPUT && { buildDir: `${process.env.BENCH_OUTPUT}/build`, nitro: { output: { dir: process.env.BENCH_OUTPUT } } },
  autoApi: {
    multiTenancy: {},
    plugins: ['./server/outbox', './server/measured'],
    // The handwritten routes set no tags, except those of a variant.
    http: { etag: process.env.BENCH_ETAG === 'on' },
  },
})
