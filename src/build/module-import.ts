/** References to exports that only the server loads: how code is named in the Nuxt config without running it there. */
import { existsSync, statSync } from 'node:fs'
import { inspect } from 'node:util'
import { resolveAlias } from '@nuxt/kit'
import { isAbsolute, normalize } from 'pathe'
import { AutoApiBuildError, type Problem } from './problem'

/** Names an export of a file. Plain data, so that it survives being made by another copy of this package. */
export interface ModuleImport {
  readonly __moduleImport: true
  /** An absolute path, a path behind an alias or a package's entry. */
  readonly path: string
  /** The export's name; `default` for the default export. */
  readonly name: string
}

/** In the order in which Nitro tries them. */
const EXTENSIONS = ['.ts', '.mjs', '.js', '.mts', '.cts', '.cjs', '.tsx', '.jsx'] as const

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

/**
 * Names an export that the server will import. Of what is named, only tables and relations are loaded at build time, for the types.
 *
 * @param path an absolute path (`resolve('./schema')` of `createResolver`), an alias (`~~/server/schema`) or a package's entry; the extension may be left out
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

/** Whether a value was made by `createModuleImport`, be it by another copy of this package. */
export function isModuleImport(value: unknown): value is ModuleImport {
  if (typeof value !== 'object' || value === null) return false
  const { __moduleImport, path, name } = value as Partial<Record<keyof ModuleImport, unknown>>
  return __moduleImport === true && !findReferenceProblem(path, name)
}

function findReferenceProblem(path: unknown, name: unknown): Pick<Problem, 'what' | 'instead'> | undefined {
  if (typeof path !== 'string' || path.trim() === '') return { what: 'has no path', instead: 'Give the path of a file as a string.' }
  // There is no file to be relative to: the import is written into a generated module.
  if (/^\.{1,2}(?:[\\/]|$)/.test(path))
    return {
      what: 'has a relative path',
      instead: `Make it absolute with \`createResolver(import.meta.url)\`: \`resolve(${inspect(path)})\`.`,
    }
  if (/^file:/i.test(path)) return { what: 'has a URL for a path', instead: 'Convert it with `fileURLToPath(url)`.' }
  if (typeof name !== 'string' || !IDENTIFIER.test(name))
    return { what: 'has no export name', instead: 'Name the export as the file does; `\'default\'` for the default export.' }
}

/** Where nuxt resolves names and what it writes while building. */
export interface Lookup {
  readonly alias: Record<string, string>
  /** Files below are generated: they may not exist yet. */
  readonly buildDir: string
}

/** The path the bundler is given: the file itself where there is one. `undefined` when a file should be there and is not. */
export function findImportPath(
  path: string,
  { alias, buildDir }: Lookup,
  isFile: (path: string) => boolean = isFileOnDisk,
): string | undefined {
  const resolved = normalize(resolveAlias(path, alias))
  // Packages and virtual modules are the bundler's to find.
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
