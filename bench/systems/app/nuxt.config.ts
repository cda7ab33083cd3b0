/** Our app of `npm run bench -- --systems`: three resources and API tokens. */
import { fileURLToPath } from 'node:url'
import { createModuleImport } from '../../../src/build/module-import'
import { apiTokens } from '../../../src/runtime/plugins'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Uses the sources of the module instead of an installed package. */
const sources = {
  'nuxt-auto-api/define': here('../../../src/runtime/server/define'),
  'nuxt-auto-api/plugins': here('../../../src/runtime/plugins'),
  'nuxt-auto-api/schema/sqlite': here('../../../src/runtime/plugins/schema-sqlite'),
  'nuxt-auto-api': here('../../../src/module'),
}

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  devtools: { enabled: false },
  alias: sources,
  compatibilityDate: '2026-01-01',
  nitro: { output: { dir: here('../../.output/systems') } },
  typescript: {
    nodeTsConfig: {
      compilerOptions: { paths: Object.fromEntries(Object.entries(sources).map(([name, path]) => [name, [path]])) },
    },
  },
  telemetry: false,
  autoApi: { plugins: [apiTokens({ findUser: createModuleImport(here('./server/members'), 'findUser') })] },
})
