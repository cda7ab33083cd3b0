/** The app of `npm run bench -- --growth`. `BENCH_DIALECT` is `sqlite` or `pg`: each has its own build. */
import { fileURLToPath } from 'node:url'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Uses the sources of the module instead of an installed package. */
const sources = {
  'nuxt-auto-api/define': here('../../src/runtime/server/define'),
  'nuxt-auto-api/plugins': here('../../src/runtime/plugins'),
  'nuxt-auto-api/schema/pg': here('../../src/runtime/plugins/schema-pg'),
  'nuxt-auto-api/schema/sqlite': here('../../src/runtime/plugins/schema-sqlite'),
  'nuxt-auto-api': here('../../src/module'),
}

const dialect = process.env.BENCH_DIALECT === 'pg' ? 'pg' : 'sqlite'
const output = fileURLToPath(new URL(`../.output/growth-${dialect}`, import.meta.url))

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  devtools: { enabled: false },
  alias: sources,
  compatibilityDate: '2026-01-01',
  nitro: { output: { dir: output }, plugins: [here(`./server/databases/${dialect}.ts`)] },
  typescript: {
    nodeTsConfig: {
      compilerOptions: { paths: Object.fromEntries(Object.entries(sources).map(([name, path]) => [name, [path]])) },
    },
  },
  telemetry: false,
  autoApi: {
    multiTenancy: { excludedResources: ['auditLog'] },
    plugins: ['./server/plugins-of-api'],
  },
})
