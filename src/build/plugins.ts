/** Collects the plugins that the config and other modules list, and checks that the server can make them again. */
import { inspect } from 'node:util'
import { addServerHandler, addServerTemplate } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { isAbsolute, normalize, resolve as join } from 'pathe'
import type { AutoApiPlugin, MadeByFactory } from '../runtime/server/plugin/contract'
import type { NamedImport } from './exports'
import { describeInline, isInstance } from './inline'
import { isModuleImport, type ModuleImport } from './module-import'
import type { Problem } from './problem'
import { addPluginTasks } from './tasks'
import { generatePlugins, type PluginSource } from './virtual/plugins'

/** A plugin made by a factory, the path of a file whose default export is one or several, or a named export of a file. */
export type PluginListing = AutoApiPlugin | string | ModuleImport

/** Handed to the `autoApi:registerPlugins` hook. */
export interface PluginRegistry {
  /**
   * Lists a plugin before those of the app.
   * @example
   * registry.add(createModuleImport(resolve('./runtime/plugin'), 'default'))
   */
  add: (plugin: PluginListing) => void
}

export interface CollectedPlugins {
  readonly sources: readonly PluginSource[]
  /** Made in the config's process. */
  readonly made: readonly AutoApiPlugin[]
  readonly problems: readonly Problem[]
  /** The exports that the list and the options of plugins name. */
  readonly named: readonly NamedImport[]
}

interface Listed {
  readonly where: string
  readonly listing: unknown
}

/**
 * @param option what stands in `autoApi.plugins`
 * @param findPath the path the bundler will be given, `undefined` where there is no file
 */
export async function collectPlugins(
  option: unknown,
  callHook: (registry: PluginRegistry) => unknown,
  findPath: (path: string) => string | undefined,
  rootDir: string,
): Promise<CollectedPlugins> {
  const ofModules: Listed[] = []
  await callHook({ add: plugin => ofModules.push({ where: `autoApi:registerPlugins[${ofModules.length}]`, listing: plugin }) })
  const single = typeof option === 'string' || isModuleImport(option)
  if (option !== undefined && !single && !Array.isArray(option)) {
    return {
      sources: [],
      made: [],
      named: [],
      problems: [
        { where: 'autoApi.plugins', what: `is ${inspect(option, { depth: 0 })}`, instead: 'Use a list of plugins and paths of files.' },
      ],
    }
  }
  const ofApp = (single ? [option] : ((option as unknown[] | undefined) ?? [])).map((listing, index): Listed => ({
    where: single ? 'autoApi.plugins' : `autoApi.plugins[${index}]`,
    listing,
  }))
  const checked = [...ofModules, ...ofApp].map(listed => check(listed, findPath, rootDir))
  const sources = checked.flatMap(({ source }) => source ?? [])
  return {
    sources,
    named: sources.flatMap(source => [source, ...(source.options ?? []).flatMap(option => namedIn(option, source.where))]),
    made: checked.flatMap(({ made }) => made ?? []),
    problems: checked.flatMap(({ problem }) => problem ?? []),
  }
}

interface Checked {
  readonly source?: PluginSource
  readonly made?: AutoApiPlugin
  readonly problem?: Problem
}

function check({ where, listing }: Listed, findPath: (path: string) => string | undefined, rootDir: string): Checked {
  if (typeof listing === 'string') return checkFile(where, listing, 'default', findPath, rootDir)
  if (isModuleImport(listing)) return checkFile(where, listing.path, listing.name, findPath, rootDir)
  const recipe = typeof listing === 'object' && listing !== null ? (listing as Partial<MadeByFactory>).__recipe?.() : undefined
  if (!recipe) {
    const { where: at, what } = describeInline(listing, where)
    return {
      problem: {
        where: at,
        what: `${what}, which the server cannot make again`,
        instead: 'Put the plugin into a file, as its default export, and list the path of the file.',
        anchor: 'plugins',
      },
    }
  }
  const placed = recipe.options.map((option, index) => ({ option, at: `${where}.${recipe.name}(${index ? `${index}: ` : ''}…)` }))
  const lost = placed.map(({ option, at }) => findLost(option, at)).find(problem => problem)
  if (lost)
    return {
      problem: {
        ...lost,
        instead: `Call \`${recipe.name}()\` in a file and list the path of the file: \`plugins: ['./server/api-plugins']\`.`,
        anchor: 'plugins',
      },
    }
  const missing = placed.map(({ option, at }) => findMissing(option, at, findPath)).find(problem => problem)
  if (missing) return { problem: missing }
  const path = isAbsolute(recipe.from) ? findPath(recipe.from) : recipe.from
  if (path === undefined)
    return {
      problem: {
        where,
        what: `comes from ${inspect(recipe.from)}, where there is no file`,
        instead: 'Name a package\'s entry or an absolute path in `defineAutoApiPlugin({ from, name }, …)`.',
      },
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

function checkFile(where: string, path: string, name: string, findPath: (path: string) => string | undefined, rootDir: string): Checked {
  const found = findPath(/^\.{1,2}\//.test(path) ? normalize(join(rootDir, path)) : path)
  return found === undefined
    ? {
        problem: {
          where,
          what: `is ${inspect(path)}, where there is no file`,
          instead: 'Give the path of a file, from the root of the app (`./server/api-plugins`), behind an alias or absolute.',
        },
      }
    : { source: { where, import: { __moduleImport: true, path: found, name } } }
}

/** An export that an option names where there is no file: the server would be given nothing. Only after `findLost` has found the value plain. */
function findMissing(value: unknown, where: string, findPath: (path: string) => string | undefined): Problem | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!isModuleImport(value))
    return Object.entries(value)
      .flatMap(([key, inner]) => findMissing(inner, `${where}.${key}`, findPath) ?? [])
      .at(0)
  return findPath(value.path) === undefined
    ? {
        where,
        what: `names an export of ${inspect(value.path)}, where there is no file`,
        instead: 'Give the path of a file, absolute or behind an alias.',
      }
    : undefined
}

/** As the bundler is given them. */
function withFoundPaths(value: unknown, findPath: (path: string) => string | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (isModuleImport(value)) return { ...value, path: findPath(value.path)! }
  if (Array.isArray(value)) return value.map(inner => withFoundPaths(inner, findPath))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withFoundPaths(inner, findPath)]))
}

/** The exports that options name. */
function namedIn(value: unknown, where: string): NamedImport[] {
  if (isModuleImport(value)) return [{ where, import: value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => namedIn(inner, `${where}.${key}`))
}

/** The first value that JSON would lose or change. */
function findLost(value: unknown, where: string): Pick<Problem, 'where' | 'what'> | undefined {
  if (
    value === null
    || value === undefined
    || typeof value === 'string'
    || typeof value === 'boolean'
    || (typeof value === 'number' && Number.isFinite(value))
  )
    return undefined
  const isPlain = typeof value === 'object' && !isInstance(value)
  if (!isPlain)
    return typeof value === 'object' || typeof value === 'function' ? describeInline(value, where) : { where, what: `is ${inspect(value)}` }
  for (const [key, inner] of Object.entries(value as object)) {
    const found = findLost(inner, Array.isArray(value) ? `${where}[${key}]` : `${where}.${key}`)
    if (found) return found
  }
  return undefined
}

/** Runs what plugins do while the app is built, and hands the list down to the server. */
export async function addPlugins(
  nuxt: Nuxt,
  { sources, made }: CollectedPlugins,
  taken: () => readonly string[],
  resolve: (path: string) => string,
): Promise<void> {
  const built = made.filter(({ buildSetup }) => buildSetup)
  for (const { buildSetup } of built) await buildSetup!(nuxt)
  addServerTemplate({
    filename: '#auto-api/plugins',
    getContents: () =>
      generatePlugins(
        sources,
        built.map(({ name }) => name),
        taken(),
      ),
  })
  if (sources.length === 0) return
  // In front of the router, behind the app's own middleware: that is where the caller comes from.
  addServerHandler({ middleware: true, handler: resolve('./runtime/server/routes/plugins') })
  // What a file holds is known to the server alone.
  if (sources.length > made.length || made.some(({ tasks }) => tasks)) addPluginTasks(nuxt, resolve)
}
