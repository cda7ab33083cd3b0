/**
 * Builds a separate file for each custom component of the admin. No other file of the app names these files, so that the browser learns
 * about one only from `GET /_admin`, after the server has checked the caller's permissions.
 */
import { addVitePlugin } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { isAbsolute, join } from 'pathe'
import type { AdminChunk } from '../../runtime/shared/types/admin'
import { COMPONENTS } from './templates'

export type Chunks = Readonly<Record<string, AdminChunk>>

/** The parts of a chunk in Vite's manifest that this file uses. Paths are relative to the folder of assets. */
interface ManifestChunk {
  readonly file: string
  readonly src?: string
  isEntry?: boolean
  css?: string[]
  imports?: string[]
  dynamicImports?: string[]
}

type Manifest = Record<string, ManifestChunk>

/** The context of Rollup and Rolldown. */
interface BuildContext {
  emitFile: (file: { type: 'chunk', id: string, preserveSignature: 'strict' }) => string
  getFileName: (reference: string) => string
}

/**
 * @param components absolute paths of the components
 * @param adminDirs the folders of the admin's own pages
 * @returns a function that returns the files of each component. Call it after the build of the client.
 */
export function addChunks(nuxt: Nuxt, components: readonly string[], adminDirs: readonly string[]): () => Chunks {
  const names = new Map<string, string>()
  const chunks: Record<string, AdminChunk> = {}
  const references = new Map<string, string>()
  const placeholder = join(nuxt.options.buildDir, COMPONENTS)

  addVitePlugin({
    name: 'auto-admin:chunks',
    enforce: 'pre',
    // The server renders the components. The browser would receive their paths, in development and in source maps.
    load: (id: string) => id.replace(/\?.*$/, '') === placeholder ? 'export const components = {}' : undefined,
    buildStart(this: BuildContext) {
      if (nuxt.options.dev) return
      // `strict` keeps the default export, which the browser imports by its name.
      for (const id of components) references.set(id, this.emitFile({ type: 'chunk', id, preserveSignature: 'strict' }))
    },
    generateBundle(this: BuildContext) {
      for (const [id, reference] of references) names.set(id, this.getFileName(reference))
    },
  } as Parameters<typeof addVitePlugin>[0], { server: false })

  nuxt.hook('build:manifest', (value) => {
    const manifest = value as unknown as Manifest
    for (const [id, name] of names) {
      const chunk = Object.values(manifest).find(({ file }) => name === file || name.endsWith(`/${file}`))
      if (!chunk) throw new Error(`[auto-api] The build has no files for the component ${id} of the admin.`)
      chunks[id] = { script: chunk.file, styles: stylesOf(chunk, manifest) }
      // Every page of the app loads the entries.
      delete chunk.isEntry
    }
    keepFromPrefetch(manifest, nuxt, adminDirs)
  })

  return () => nuxt.options.dev ? Object.fromEntries(components.map(id => [id, toDevelopmentChunk(id)])) : chunks
}

/** Vite adds the styles of a component in development. */
const toDevelopmentChunk = (id: string): AdminChunk => ({ script: `@fs/${id.replace(/^\//, '')}`, styles: [] })

/** Returns the styles of a chunk and of the chunks that it imports. Pages have loaded those of the entry. */
function stylesOf(chunk: ManifestChunk, manifest: Manifest, seen = new Set<ManifestChunk>()): string[] {
  if (seen.has(chunk) || (chunk.isEntry && seen.size > 0)) return []
  seen.add(chunk)
  const imported = (chunk.imports ?? []).flatMap(key => manifest[key] ? stylesOf(manifest[key], manifest, seen) : [])
  return [...new Set([...imported, ...chunk.css ?? []])]
}

/** Pages of the app do not prefetch the admin. */
function keepFromPrefetch(manifest: Manifest, { options: { rootDir, srcDir } }: Nuxt, adminDirs: readonly string[]): void {
  const isOfAdmin = (key: string) => {
    const { src } = manifest[key] ?? {}
    const paths = src === undefined ? [] : [rootDir, srcDir].map(dir => isAbsolute(src) ? src : join(dir, src))
    return paths.some(path => adminDirs.some(dir => path.startsWith(`${dir}/`)))
  }
  for (const chunk of Object.values(manifest)) {
    if (chunk.isEntry) chunk.dynamicImports = chunk.dynamicImports?.filter(key => !isOfAdmin(key))
  }
}
