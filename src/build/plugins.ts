/** Collects the plugins that the config and other modules list, runs their build setup and generates the list for the server. */
import { inspect } from 'node:util'
import { addServerHandler, addServerTemplate } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { isAbsolute } from 'pathe'
import type { AutoApiPlugin } from '../runtime/server/plugin/contract'
import { findReservedName } from '../runtime/shared/routes'
import type { ResourceRegistry } from '../runtime/shared/types/registry'
import type { OptionImport } from './exports'
import { isModuleImport, type ModuleImport } from './module-import'
import { findOptionImports, toPluginSource, type ListedPlugin } from './plugin-source'
import { AutoApiBuildError, type Problem } from './problem'
import type { MountedRoutes } from './routes'
import { addPluginTasks } from './tasks'
import { generatePlugins, type PluginSource } from './virtual/plugins'

/**
 * An entry of the plugin list: a plugin that a factory created, the path of a file, or a named export of a file. The default export of the
 * file is one plugin or a list of plugins.
 */
export type PluginListing = AutoApiPlugin | string | ModuleImport

/** The argument of the `autoApi:registerPlugins` hook. */
export interface PluginRegistry {
  /**
   * Adds a plugin to the list, before the plugins of the app.
   * @example
   * registry.add(createModuleImport(resolve('./runtime/plugin'), 'default'))
   */
  add: (plugin: PluginListing) => void
}

export interface CollectedPlugins {
  readonly sources: readonly PluginSource[]
  /** Plugins that a factory created during the build. Plugins from files exist only on the server. */
  readonly made: readonly AutoApiPlugin[]
  readonly problems: readonly Problem[]
  /** The module imports in the plugin list and in the options of plugins. */
  readonly named: readonly OptionImport[]
}

/**
 * Collects the plugins of other modules, then the plugins of the app.
 * @param option the value of `autoApi.plugins`
 * @param findPath returns the path that the bundler can import, or `undefined` if no file exists
 */
export async function collectPlugins(
  option: unknown,
  callHook: (registry: PluginRegistry) => unknown,
  findPath: (path: string) => string | undefined,
  rootDir: string,
): Promise<CollectedPlugins> {
  const ofModules: ListedPlugin[] = []
  await callHook({ add: plugin => ofModules.push({ where: `autoApi:registerPlugins[${ofModules.length}]`, listing: plugin }) })
  const isSingle = typeof option === 'string' || isModuleImport(option)
  if (option !== undefined && !isSingle && !Array.isArray(option)) {
    const what = `is ${inspect(option, { depth: 0 })}`
    const problem = { where: 'autoApi.plugins', what, instead: 'Use a list of plugins and paths of files.' }
    return { sources: [], made: [], named: [], problems: [problem] }
  }
  const ofApp = (isSingle ? [option] : ((option as unknown[] | undefined) ?? [])).map((listing, index): ListedPlugin => ({
    where: isSingle ? 'autoApi.plugins' : `autoApi.plugins[${index}]`,
    listing,
  }))
  const checked = [...ofModules, ...ofApp].map(listed => toPluginSource(listed, findPath, rootDir))
  const sources = checked.flatMap(({ source }) => source ?? [])
  return {
    sources,
    named: sources.flatMap(source => [source, ...(source.options ?? []).flatMap(value => findOptionImports(value, source.where))]),
    made: checked.flatMap(({ made }) => made ?? []),
    problems: checked.flatMap(({ problem }) => problem ?? []),
  }
}

/**
 * Reports plugins from a package that is not installed. The bundler would leave out the import, and the built server would not start.
 * @param isInstalled whether the app can load a package
 */
export async function checkPluginPackages(
  sources: readonly PluginSource[],
  isInstalled: (name: string) => Promise<boolean>,
): Promise<Problem[]> {
  const checked = await Promise.all(sources.map(async ({ where, import: { path } }): Promise<Problem[]> => {
    // Virtual modules exist only in the bundler.
    if (isAbsolute(path) || /^#|:/.test(path) || await isInstalled(path)) return []
    const what = `comes from ${inspect(path)}, which is not an installed package`
    return [{ where, what, instead: 'Install the package. For a file of the app, use a path with an alias, such as `~~/server/outbox`.' }]
  }))
  return checked.flat()
}

/**
 * Lets plugins register resources of their own. If two plugins have the same name, only the last one registers, as on the server.
 * @throws When a plugin throws. The message names the plugin.
 */
export async function registerPluginResources(made: readonly AutoApiPlugin[], registry: ResourceRegistry): Promise<void> {
  for (const { name, resources } of new Map(made.map(plugin => [plugin.name, plugin])).values()) {
    if (resources === undefined) continue
    try {
      await resources(registry)
    }
    catch (error) {
      if (error instanceof AutoApiBuildError) throw error
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`[auto-api] The plugin \`${name}\` could not register its resources: ${reason}`, { cause: error })
    }
  }
}

/** Reports resources whose name is the first segment of a plugin's route: the route would take requests of the resource. */
export function checkPluginPaths(made: readonly AutoApiPlugin[], resources: readonly string[]): Problem[] {
  return made.flatMap(({ name: plugin, routes = [] }) => routes.flatMap(({ method, path }): Problem[] => {
    const reserved = findReservedName(path)
    if (reserved === undefined || !resources.includes(reserved)) return []
    const what = `is the first segment of the route ${method} ${path} of the plugin \`${plugin}\`, so it cannot be the name of a resource`
    return [{ where: reserved, what, instead: 'Choose another name for the resource.' }]
  }))
}

/** The parts of a plugin that run at build time. The server checks that they ran. */
const BUILD_PARTS = ['buildSetup', 'resources'] as const

/** Runs the build setup of the plugins and generates the list for the server. */
export async function addPlugins(
  nuxt: Nuxt,
  { sources, made }: CollectedPlugins,
  { appRoutes, endpoints }: MountedRoutes,
  resolve: (path: string) => string,
): Promise<void> {
  const built = made.filter(({ buildSetup }) => buildSetup)
  for (const { buildSetup } of built) await buildSetup!(nuxt)
  const parts = made.flatMap(plugin => BUILD_PARTS.filter(part => plugin[part]).map(part => `${plugin.name}.${part}`))
  const getContents = () => generatePlugins(sources, parts, appRoutes(), sources.length > 0 ? endpoints() : [])
  addServerTemplate({ filename: '#auto-api/plugins', getContents })
  if (sources.length === 0) return
  // The handler runs before the router and after the app's own middleware, which sets the user.
  addServerHandler({ middleware: true, handler: resolve('./runtime/server/routes/plugins') })
  // The build does not load plugins from files, so it assumes that they have tasks.
  if (sources.length > made.length || made.some(({ tasks }) => tasks)) addPluginTasks(nuxt, resolve)
}
