/** The app of the comparison on a database server: handwritten handlers and a registered resource. `BENCH_DIALECT` is `pg` or `mysql`. */
import { fileURLToPath } from 'node:url'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Uses the sources of the module instead of an installed package. */
const sources = {
  'nuxt-auto-api/define': here('../../src/runtime/server/define'),
  'nuxt-auto-api': here('../../src/module'),
}

const dialect = process.env.BENCH_DIALECT === 'mysql' ? 'mysql' : 'pg'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  devtools: { enabled: false },
  alias: { ...sources, '#client': here(`./server/clients/${dialect}`), '#tables': here(`./server/database/${dialect}`) },
  compatibilityDate: '2026-01-01',
  nitro: { output: { dir: here(`../.output/${process.env.BENCH_OUTPUT ?? dialect}`) } },
  typescript: {
    nodeTsConfig: {
      compilerOptions: { paths: Object.fromEntries(Object.entries(sources).map(([name, path]) => [name, [path]])) },
    },
  },
  telemetry: false,
  autoApi: {
    multiTenancy: {},
    http: { etag: false },
  },
})
