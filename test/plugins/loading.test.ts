/** What nuxt.config loads when it imports the factories of the built-in plugins. */
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { expect, it } from 'vitest'

const entry = fileURLToPath(new URL('../../src/runtime/plugins/index.ts', import.meta.url))

interface Chunk {
  readonly fileName: string
  readonly isEntry: boolean
  readonly imports: readonly string[]
}

/** The packages and generated modules that an import of the factories loads at once. */
async function findImports(): Promise<readonly string[]> {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    build: { ssr: entry, write: false, rollupOptions: { external: id => !/^[./\0]/.test(id) } },
  })
  const { output } = [result].flat()[0] as unknown as { output: readonly Chunk[] }
  const chunks = new Map(output.map(chunk => [chunk.fileName, chunk]))
  const loaded = new Set(output.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName))
  for (const name of loaded) for (const other of chunks.get(name)?.imports ?? []) loaded.add(other)
  return [...loaded].filter(name => !chunks.has(name)).sort()
}

it('loads no module that only the build of an app generates', async () => {
  expect((await findImports()).filter(name => name.startsWith('#'))).toEqual([])
}, 30_000)
