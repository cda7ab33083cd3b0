/** Module imports: references to exports of files. The server loads these exports; the build does not run their code. */
import { existsSync, statSync } from 'node:fs'
import { inspect } from 'node:util'
import { resolveAlias } from '@nuxt/kit'
import { isAbsolute, normalize } from 'pathe'
import type { ModuleImport } from '../runtime/shared/types/module-import'
import { AutoApiBuildError, type Problem } from './problem'

export type { ModuleImport } from '../runtime/shared/types/module-import'

/**
 * Returns the path that the bundler can import, or `undefined` if no file exists.
 * @param name the name of the export
 */
export type FindPath = (path: string, name: string) => string | undefined

/** The file extensions, in the order in which Nitro tries them. */
const EXTENSIONS = ['.ts', '.mjs', '.js', '.mts', '.cts', '.cjs', '.tsx', '.jsx'] as const

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

/**
 * Creates a reference to an export that the server imports. The build itself loads only tables and relations, to generate types.
 *
 * @param path an absolute path (`resolve('./schema')` of `createResolver`), a path with an alias (`~~/server/schema`) or the entry of a
 * package; the extension is optional
 * @param name the export's name, `'default'` for the default export
 * @throws AutoApiBuildError if the path is relative or the name cannot be the name of an export
 * @example
 * const { resolve } = createResolver(import.meta.url)
 * registry.register('posts', { schema: createModuleImport(resolve('./schema'), 'posts') })
 */
export function createModuleImport(path: string, name: string): ModuleImport {
  const problem = findReferenceProblem(path, name)
  if (problem)
    throw new AutoApiBuildError([{ where: `createModuleImport(${inspect(path)}, ${inspect(name)})`, anchor: 'module-imports', ...problem }])
  return Object.freeze({ __moduleImport: true, path, name })
}

/** Whether `createModuleImport` of any copy of this package created the value. */
export function isModuleImport(value: unknown): value is ModuleImport {
  if (typeof value !== 'object' || value === null) return false
  const { __moduleImport, path, name } = value as Partial<Record<keyof ModuleImport, unknown>>
  return __moduleImport === true && !findReferenceProblem(path, name)
}

function findReferenceProblem(path: unknown, name: unknown): Pick<Problem, 'what' | 'instead'> | undefined {
  if (typeof path !== 'string' || path.trim() === '') return { what: 'has no path', instead: 'Pass the path of a file as a string.' }
  // A relative path would resolve against the folder of the generated module that contains the import.
  if (/^\.{1,2}(?:[\\/]|$)/.test(path))
    return {
      what: 'has a relative path',
      instead: `Make it absolute with \`createResolver(import.meta.url)\`: \`resolve(${inspect(path)})\`.`,
    }
  if (/^file:/i.test(path)) return { what: 'has a URL instead of a path', instead: 'Convert it with `fileURLToPath(url)`.' }
  if (typeof name !== 'string' || !IDENTIFIER.test(name))
    return { what: 'has no export name', instead: 'Pass the name of an export, or `\'default\'` for the default export.' }
}

/** The Nuxt options that are necessary to resolve a path. */
export interface PathOptions {
  readonly alias: Record<string, string>
  /** The folder of generated files. They can be missing when the build checks the path. */
  readonly buildDir: string
}

/** Returns the path that the bundler can import, with the extension of the file. It returns `undefined` if the file does not exist. */
export function findImportPath(
  path: string,
  { alias, buildDir }: PathOptions,
  isFile: (path: string) => boolean = isFileOnDisk,
): string | undefined {
  const resolved = normalize(resolveAlias(path, alias))
  // The bundler resolves packages and virtual modules.
  if (!isAbsolute(resolved)) return resolved
  const file = [
    resolved,
    ...EXTENSIONS.map(extension => resolved + extension),
    ...EXTENSIONS.map(extension => `${resolved}/index${extension}`),
  ].find(isFile)
  return file ?? (resolved.startsWith(`${buildDir}/`) ? resolved : undefined)
}

function isFileOnDisk(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}
