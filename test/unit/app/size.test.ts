/** The size of the composables in the browser. */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { expect, it } from 'vitest'
import { VUE_IMPORTS } from '../../../src/build/imports'

const path = (file: string) => fileURLToPath(new URL(`../../../src/runtime/${file}`, import.meta.url))

/**
 * The gzipped size of a bundle of these lines, in bytes.
 * @param nested whether a registration of the app has the option `nested`
 */
async function sizeOf(lines: readonly string[], nested = false): Promise<number> {
  const modules: Readonly<Record<string, string>> = {
    'virtual:entry': lines.join('\n'),
    '#build/auto-api/client': `export const hasNested = ${nested}, prefix = '/api', resources = {}`,
  }
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    define: { 'import.meta.server': 'false', 'import.meta.client': 'true', 'process.env.NODE_ENV': '"production"' },
    plugins: [
      {
        name: 'entry',
        enforce: 'pre',
        resolveId: id => (Object.hasOwn(modules, id) ? id : undefined),
        load: id => modules[id],
      },
    ],
    build: {
      write: false,
      minify: true,
      rollupOptions: { input: 'virtual:entry', preserveEntrySignatures: 'strict', external: /^(?:vue|vue-demi|#app)$/ },
    },
  })
  const { output } = [result].flat()[0] as { output: readonly { code?: string }[] }
  return output.reduce((sum, { code = '' }) => sum + gzipSync(code).byteLength, 0)
}

const LIBRARY = 'export * from \'@tanstack/vue-query\''
const PLUGIN = `export { default as plugin } from '${path('app/plugin.ts')}'`

const exporting = (names: readonly string[]) => `export { ${names.join(', ')} } from '${path('app/index.ts')}'`

/** Exports everything that Vue code can use without an import. */
const everything = (isUsed: (name: string) => boolean) =>
  VUE_IMPORTS.map(({ file, names }) => `export { ${names.filter(isUsed).join(', ')} } from '${path(`${file}.ts`)}'`)

it('all composables add at most 8.4 kB gzipped to vue-query, forms and tables 3.6 kB more', async () => {
  const without = await sizeOf([LIBRARY])
  const others = await sizeOf([
    LIBRARY,
    ...everything(name => !['useAutoApiForm', 'useAutoApiColumns'].includes(name)),
    PLUGIN,
  ])
  const all = await sizeOf([LIBRARY, ...everything(() => true), PLUGIN])
  expect(without).toBeGreaterThan(5000)
  expect(others - without).toBeGreaterThan(1500)
  expect(others - without).toBeLessThanOrEqual(8.4 * 1024)
  expect(all - others).toBeGreaterThan(500)
  expect(all - others).toBeLessThanOrEqual(3.6 * 1024)
}, 30_000)

it('a list and a form add at most 5.4 kB gzipped to vue-query', async () => {
  const names = ['useAutoApiList', 'useAutoApiGet', 'useAutoApiCreate', 'useAutoApiUpdate', 'useAutoApiDelete', 'autoApiFormErrors']
  const without = await sizeOf([LIBRARY])
  const used = await sizeOf([LIBRARY, exporting(names), PLUGIN])
  expect(used - without).toBeGreaterThan(1500)
  expect(used - without).toBeLessThanOrEqual(5.4 * 1024)
}, 30_000)

it('children add at most 2.4 kB gzipped to a form, and nothing if no body can contain any', async () => {
  const lines = [LIBRARY, exporting(['useAutoApiForm', 'useAutoApiList']), PLUGIN]
  const [without, used] = [await sizeOf(lines), await sizeOf(lines, true)]
  expect(used - without).toBeGreaterThan(500)
  expect(used - without).toBeLessThanOrEqual(2.4 * 1024)
}, 30_000)

it('one composable adds only the code it needs', async () => {
  const all = await sizeOf(everything(() => true))
  const one = await sizeOf([`export { useAutoApiList } from '${path('app/index.ts')}'`])
  expect(one).toBeLessThan(all * 0.8)
}, 30_000)
