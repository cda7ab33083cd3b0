/** Converts an entry of the plugin list to the import with which the server creates the plugin. */
import { inspect } from 'node:util'
import { normalize, resolve as join } from 'pathe'
import type { AutoApiPlugin, MadeByFactory } from '../runtime/server/plugin/contract'
import type { OptionImport } from './exports'
import { describeInline, isInstance } from './inline-values'
import { isModuleImport } from './module-import'
import type { Problem } from './problem'
import type { PluginSource } from './virtual/plugins'

export interface ListedPlugin {
  readonly where: string
  readonly listing: unknown
}

export interface CheckedPlugin {
  readonly source?: PluginSource
  /** The plugin itself, if a factory created it in the config. */
  readonly made?: AutoApiPlugin
  readonly problem?: Problem
}

type FindPath = (path: string) => string | undefined

/**
 * Converts an entry to a plugin source. If a factory created the plugin, the server imports the factory and calls it with the same
 * options, so the options must be plain data.
 */
export function toPluginSource({ where, listing }: ListedPlugin, findPath: FindPath, rootDir: string): CheckedPlugin {
  if (typeof listing === 'string') return toFileSource(where, listing, 'default', findPath, rootDir)
  if (isModuleImport(listing)) return toFileSource(where, listing.path, listing.name, findPath, rootDir)
  const recipe = typeof listing === 'object' && listing !== null ? (listing as Partial<MadeByFactory>).__factoryCall?.() : undefined
  if (!recipe) return { problem: toNoFactoryProblem(listing, where) }

  const options = recipe.options.map((value, index) => ({ value, at: `${where}.${recipe.name}(${index ? `${index}: ` : ''}…)` }))
  const unserializable = options.map(({ value, at }) => findUnserializable(value, at)).find(found => found)
  if (unserializable) {
    const { isCode, ...found } = unserializable
    const inFile = `all \`${recipe.name}()\` in a file and list the path of the file: \`plugins: ['./server/api-plugins']\`.`
    const instead = isCode ? `Name an export with \`createModuleImport(path, name)\`, or c${inFile}` : `C${inFile}`
    return { problem: { ...found, instead, anchor: 'plugins' } }
  }
  const missing = options.map(({ value, at }) => findMissingFile(value, at, findPath)).find(problem => problem)
  if (missing) return { problem: missing }
  // A relative path would resolve against the folder of the generated module that contains the import.
  const path = /^\.{1,2}\//.test(recipe.from) ? undefined : findPath(recipe.from)
  if (path === undefined) {
    const instead = 'Use the entry of a package or the path of a file (absolute or with an alias) as `from`.'
    return { problem: { where, what: `comes from ${inspect(recipe.from)}, which is not a file`, instead } }
  }
  return {
    source: {
      where,
      import: { __moduleImport: true, path, name: recipe.name },
      options: recipe.options.map(option => withFoundPaths(option, findPath)),
    },
    made: listing as AutoApiPlugin,
  }
}

function toFileSource(where: string, path: string, name: string, findPath: FindPath, rootDir: string): CheckedPlugin {
  const file = findPath(/^\.{1,2}\//.test(path) ? normalize(join(rootDir, path)) : path)
  if (file !== undefined) return { source: { where, import: { __moduleImport: true, path: file, name } } }
  const instead = 'Use the path of a file: relative to the root of the app (`./server/api-plugins`), with an alias, or absolute.'
  return { problem: { where, what: `is ${inspect(path)}, which is not a file`, instead } }
}

function toNoFactoryProblem(listing: unknown, where: string): Problem {
  const inline = describeInline(listing, where)
  return {
    where: inline.where,
    what: `${inline.what}, which cannot be passed to the server`,
    instead: 'Make the plugin the default export of a file, and list the path of the file.',
    anchor: 'plugins',
  }
}

/** A value that cannot be passed to the server, and whether an export of a file could replace it. */
interface Unserializable extends Pick<Problem, 'where' | 'what'> {
  readonly isCode?: true
}

/**
 * Finds the first value that the generated module could not create again. A module import is plain data, so it passes the check.
 * @param parents the objects that contain the value
 */
function findUnserializable(value: unknown, where: string, parents: readonly object[] = []): Unserializable | undefined {
  if (value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number' && Number.isFinite(value)) return undefined
  if (typeof value === 'function' || isInstance(value)) return { ...describeInline(value, where), isCode: true }
  if (typeof value !== 'object') return { where, what: `is ${inspect(value)}` }
  if (parents.includes(value)) return { where, what: 'refers to an object that contains it' }
  if (Object.getOwnPropertySymbols(value).length > 0) return { where, what: 'has a key that is a symbol' }
  if (Array.isArray(value) && Object.keys(value).length !== value.length) return { where, what: 'is a list with empty positions or keys' }
  for (const [key, { enumerable, get, value: child }] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    // Skips properties that JavaScript defines, such as the `length` of an array.
    if (!enumerable) continue
    const at = Array.isArray(value) ? `${where}[${key}]` : `${where}.${key}`
    // Reading a getter would run its code.
    const found = get
      ? { where: at, what: 'is an inline getter', isCode: true as const }
      : findUnserializable(child, at, [...parents, value])
    if (found) return found
  }
  return undefined
}

/** Finds the first module import whose file does not exist. `findUnserializable` checks first that the value is plain data. */
function findMissingFile(value: unknown, where: string, findPath: FindPath): Problem | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!isModuleImport(value))
    return Object.entries(value)
      .flatMap(([key, child]) => findMissingFile(child, `${where}.${key}`, findPath) ?? [])
      .at(0)
  if (findPath(value.path) !== undefined) return undefined
  const instead = 'Use the path of a file: absolute or with an alias.'
  return { where, what: `names an export of ${inspect(value.path)}, which is not a file`, instead }
}

/** Replaces the path of each module import by the path that the bundler can import. */
function withFoundPaths(value: unknown, findPath: FindPath): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (isModuleImport(value)) return { ...value, path: findPath(value.path)! }
  if (Array.isArray(value)) return value.map(child => withFoundPaths(child, findPath))
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withFoundPaths(child, findPath)]))
}

/** Returns every module import inside an option value. */
export function findOptionImports(value: unknown, where: string): OptionImport[] {
  if (isModuleImport(value)) return [{ where, import: value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) => findOptionImports(child, `${where}.${key}`))
}
