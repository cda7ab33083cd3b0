/** Module imports: references to exports of files, which the server loads and the build does not run. */
import { existsSync, statSync } from 'node:fs'
import { inspect } from 'node:util'
import { resolveAlias } from '@nuxt/kit'
import { isAbsolute, normalize } from 'pathe'
import { AutoApiBuildError, type Problem } from './problem'

/** Names an export of a file. It is plain data, so that an import made by another copy of this package works as well. */
export interface ModuleImport {
  readonly __moduleImport: true
  /** An absolute path, a path with an alias or the entry of a package. */
  readonly path: string
  /** The export's name; `default` for the default export. */
  readonly name: string
}

/** In Nitro's order. */
const EXTENSIONS = ['.ts', '.mjs', '.js', '.mts', '.cts', '.cjs', '.tsx', '.jsx'] as const

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

/**
 * Names an export that the server imports. The build loads only tables and relations, to generate types.
 *
 * @param path an absolute path (`resolve('./schema')` of `createResolver`), a path with an alias (`~~/server/schema`) or the entry of a
 * package; the extension is optional
 * @param name the export's name, `'default'` for the default export
 * @throws AutoApiBuildError for a relative path or a name that cannot be an export
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

/** Whether a value was made by `createModuleImport`, of this copy of the package or another. */
export function isModuleImport(value: unknown): value is ModuleImport {
  if (typeof value !== 'object' || value === null) return false
  const { __moduleImport, path, name } = value as Partial<Record<keyof ModuleImport, unknown>>
  return __moduleImport === true && !findReferenceProblem(path, name)
}

function findReferenceProblem(path: unknown, name: unknown): Pick<Problem, 'what' | 'instead'> | undefined {
  if (typeof path !== 'string' || path.trim() === '') return { what: 'has no path', instead: 'Pass the path of a file as a string.' }
  // The import is written into a generated module, which is in another folder.
  if (/^\.{1,2}(?:[\\/]|$)/.test(path))
    return {
      what: 'has a relative path',
      instead: `Make it absolute with \`createResolver(import.meta.url)\`: \`resolve(${inspect(path)})\`.`,
    }
  if (/^file:/i.test(path)) return { what: 'has a URL instead of a path', instead: 'Convert it with `fileURLToPath(url)`.' }
  if (typeof name !== 'string' || !IDENTIFIER.test(name))
    return { what: 'has no export name', instead: 'Pass the name of an export, or `\'default\'` for the default export.' }
}

/** The parts of Nuxt's options that decide where a path leads. */
export interface PathOptions {
  readonly alias: Record<string, string>
  /** Files in this folder are generated and may not exist yet. */
  readonly buildDir: string
}

/** The path for the bundler: that of the file, if the path leads to one. `undefined` for a file that does not exist. */
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
