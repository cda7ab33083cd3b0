/** Installs the listed plugins in an API when the server starts. An invalid plugin fails the start. */
import { isObject } from '../../shared/is-object'
import { isPromise } from '../../shared/awaitable'
import { OPERATIONS } from '../../shared/operations'
import { didYouMean } from '../../shared/suggest'
import type { Resource } from '../schema/model'
import type { Extensions } from '../core/extensions/extensions'
import type { AutoApiPlugin, ListedPlugin, PluginRoute, PluginTask } from './contract'
import type { PluginServer } from './server'

/** The names that validate plugins, and the server functions that plugins receive. */
export interface InstallOptions {
  readonly resources: ReadonlyMap<string, Resource>
  /** The parts of plugins that ran at build time, as `plugin.part`. */
  readonly builtPlugins: readonly string[] | 'all'
  readonly server: PluginServer
}

export interface Installed {
  readonly routes: readonly (PluginRoute & { readonly plugin: string })[]
  readonly tasks: ReadonlyMap<string, PluginTask>
  /** A promise while a plugin is set up asynchronously. Requests wait for it. */
  readonly pending?: Promise<void>
}

/** @throws When a plugin is invalid. Errors that a plugin throws during its creation or setup are thrown too. */
export function installPlugins(listed: readonly ListedPlugin[], extensions: Extensions, options: InstallOptions): Installed {
  const found = listed.map(({ where, listed }) => ({ where, made: make(listed()) }))
  const installed: Installing = { routes: [], tasks: new Map() }
  /** Installs all plugins. Returns the promises of asynchronous setups. */
  const install = (all: readonly { where: string, made: unknown }[]): Promise<unknown>[] => {
    const plugins = lastOfEachName(all.flatMap(({ where, made }) => toPlugins(made, where)))
    for (const plugin of plugins) addPlugin(plugin, installed, extensions, options)
    return plugins.map(({ setup }) => setup?.(options.server)).filter(isPromise)
  }
  if (found.some(({ made }) => isPromise(made))) {
    const made = Promise.all(found.map(async ({ where, made }) => ({ where, made: await made })))
    return { ...installed, pending: made.then(async all => void (await Promise.all(install(all)))) }
  }
  const waiting = install(found)
  return waiting.length === 0 ? installed : { ...installed, pending: Promise.all(waiting).then(() => {}) }
}

const make = (value: unknown): unknown => typeof value === 'function' ? (value as () => unknown)() : value

function toPlugins(made: unknown, where: string): AutoApiPlugin[] {
  return [made].flat().map((plugin) => {
    assertPlugin(plugin, where)
    return plugin
  })
}

const isFunction = (value: unknown) => typeof value === 'function'
const isNames = (value: unknown) => Array.isArray(value) && value.every(name => typeof name === 'string')

/** Whether the value is `{ images: true }`. */
const isWatcher = (value: unknown) =>
  isObject(value) && ['isActive', 'watches', 'onRows'].every(part => isFunction((value as Record<string, unknown>)[part]))
const isNeeds = (value: unknown) =>
  isObject(value) && Object.keys(value as object).join() === 'images' && (value as { images: unknown }).images === true

const PARTS: Readonly<Record<keyof AutoApiPlugin, readonly [fits: (value: unknown) => boolean, what: string]>> = {
  name: [value => typeof value === 'string' && value !== '', 'a string'],
  setup: [isFunction, 'a function'],
  onArrival: [isFunction, 'a function'],
  onRequest: [isFunction, 'a function'],
  credentials: [isFunction, 'a function'],
  rows: [isObject, 'an object of functions by resource'],
  rowChecks: [isObject, 'an object of functions by resource'],
  fieldRules: [isObject, 'an object of field rules by resource'],
  disables: [isObject, 'an object of operations by resource'],
  unreported: [isNames, 'a list of resources'],
  extendContext: [isFunction, 'a function'],
  onCaller: [isFunction, 'a function'],
  around: [isFunction, 'a function'],
  onResponse: [isFunction, 'a function'],
  hooks: [isObject, 'an object of hooks by resource'],
  onCommit: [isFunction, 'a function'],
  inCommit: [isFunction, 'a function'],
  needs: [isNeeds, '`{ images: true }`'],
  watch: [isWatcher, 'an object of the functions `isActive`, `watches` and `onRows`'],
  onStop: [isObject, 'an object of the functions `begin` and `end`'],
  routes: [Array.isArray, 'a list of routes'],
  tasks: [isObject, 'an object of tasks by name'],
  resources: [isFunction, 'a function'],
  buildSetup: [isFunction, 'a function'],
}

function assertPlugin(plugin: unknown, where: string): asserts plugin is AutoApiPlugin {
  if (!isObject(plugin))
    throw new TypeError(
      `[auto-api] \`${where}\` is no plugin. `
      + 'Export what `defineAutoApiPlugin()` returns as the default, a list of plugins, or a function that creates them.',
    )
  const { name } = plugin as { name?: unknown }
  for (const [part, [fits, what]] of Object.entries(PARTS)) {
    const value = (plugin as Record<string, unknown>)[part]
    if ((value !== undefined || part === 'name') && !fits(value))
      throw new TypeError(`[auto-api] \`${where}\`: \`${part}\` of the plugin ${JSON.stringify(name)} is not ${what}.`)
  }
  const unknown = Object.keys(plugin as object).find(key => !Object.hasOwn(PARTS, key) && key !== '__factoryCall')
  if (unknown !== undefined)
    throw new TypeError(
      `[auto-api] \`${where}\`: the plugin \`${String(name)}\` has \`${unknown}\`, which is no part of a plugin. `
      + `Use one of: ${Object.keys(PARTS).join(', ')}.`,
    )
}

/**
 * Keeps one plugin for each name: the one that is listed last, at the position of the first. So a file can replace a plugin of the
 * config, with options that the config cannot contain.
 */
function lastOfEachName(plugins: readonly AutoApiPlugin[]): AutoApiPlugin[] {
  return [...new Map(plugins.map(plugin => [plugin.name, plugin])).values()]
}

interface Installing {
  readonly routes: (PluginRoute & { plugin: string })[]
  readonly tasks: Map<string, PluginTask>
}

function addPlugin(
  plugin: AutoApiPlugin, installed: Installing, extensions: Extensions, { resources, builtPlugins }: InstallOptions,
): void {
  const { name, credentials, rows = {}, extendContext, hooks = {}, routes = [], tasks = {} } = plugin
  assertBuilt(plugin, builtPlugins)
  if (plugin.needs && !plugin.inCommit)
    throw new Error(`[auto-api] The plugin \`${name}\` has \`needs\` without \`inCommit\`. Only \`inCommit\` receives images.`)
  const { inCommit: run, ...listeners } = plugin
  extensions.addListeners({ ...listeners, ...run && { inCommit: { name, run, images: plugin.needs?.images === true } } })
  if (credentials) extensions.addCredentials({ plugin: name, find: credentials })
  addRows(name, rows, extensions, resources)
  addRowChecks(plugin, extensions, resources)
  addFieldRules(plugin, resources)
  disableOperations(plugin, resources)
  for (const resource of plugin.unreported ?? []) {
    if (!resources.has(resource)) throw unknownResource(name, '`unreported`', resource, resources)
    extensions.addUnreported(resource)
  }
  if (extendContext) extensions.addContextExtender(extendContext)
  for (const [resource, own] of Object.entries(hooks)) {
    if (resource !== '*' && !resources.has(resource)) throw unknownResource(name, 'hooks', resource, resources)
    if (resource === '*') extensions.addGlobalHook(own)
    else extensions.addResourceHook(resource, own)
  }
  installed.routes.push(...routes.map(route => ({ ...route, plugin: name })))
  for (const [task, work] of Object.entries(tasks)) {
    if (!Number.isInteger(work?.every) || work.every < 1 || typeof work.run !== 'function')
      throw new TypeError(
        `[auto-api] The task \`${task}\` of the plugin \`${name}\` needs \`every\`, a whole number of minutes, and \`run\`, a function.`,
      )
    installed.tasks.set(`${name}:${task}`, work)
  }
}

/** @throws When a part should have run at build time, but only the server loads the plugin. */
function assertBuilt({ name, buildSetup, resources }: AutoApiPlugin, built: InstallOptions['builtPlugins']): void {
  if (built === 'all') return
  for (const [part, value] of Object.entries({ buildSetup, resources })) {
    if (value && !built.includes(`${name}.${part}`))
      throw new Error(
        `[auto-api] The plugin \`${name}\` has \`${part}\`, which never ran, because only the server loads its file. `
        + 'Create the plugin with a factory, and list it in `autoApi.plugins` of nuxt.config.',
      )
  }
}

function addRows(
  plugin: string, rows: NonNullable<AutoApiPlugin['rows']>, extensions: Extensions, resources: ReadonlyMap<string, Resource>,
): void {
  for (const [name, filter] of Object.entries(rows)) {
    if (typeof filter !== 'function') throw new TypeError(`[auto-api] \`rows\` of the plugin \`${plugin}\`: \`${name}\` is not a function.`)
    const resource = resources.get(name)
    if (name !== '*' && !resource) throw unknownResource(plugin, '`rows`', name, resources)
    for (const narrowed of resource ? [resource] : resources.values()) extensions.addRowFilter(narrowed, { plugin, filter })
  }
}

function addRowChecks(
  { name: plugin, rowChecks = {} }: AutoApiPlugin, extensions: Extensions, resources: InstallOptions['resources'],
): void {
  for (const [name, check] of Object.entries(rowChecks)) {
    if (typeof check !== 'function')
      throw new TypeError(`[auto-api] \`rowChecks\` of the plugin \`${plugin}\`: \`${name}\` is not a function.`)
    const resource = resources.get(name)
    if (!resource) throw unknownResource(plugin, '`rowChecks`', name, resources)
    extensions.addRowCheck(resource, check)
  }
}

function addFieldRules({ name: plugin, fieldRules = {} }: AutoApiPlugin, resources: InstallOptions['resources']): void {
  for (const [name, rules] of Object.entries(fieldRules)) {
    const resource = resources.get(name)
    if (!resource) throw unknownResource(plugin, '`fieldRules`', name, resources)
    const unknown = Object.keys(rules).find(field => !resource.fields.has(field))
    if (unknown !== undefined)
      throw new Error(
        `[auto-api] \`fieldRules\` of the plugin \`${plugin}\`: \`${name}\` has no column \`${unknown}\`.`
        + didYouMean(unknown, [...resource.fields.keys()]),
      )
    resource.addFieldRules(rules)
  }
}

function disableOperations({ name: plugin, disables = {} }: AutoApiPlugin, resources: InstallOptions['resources']): void {
  for (const [name, operations] of Object.entries(disables)) {
    const resource = resources.get(name)
    if (!resource) throw unknownResource(plugin, '`disables`', name, resources)
    const unknown = operations.find(operation => !OPERATIONS.includes(operation))
    if (unknown !== undefined)
      throw new TypeError(`[auto-api] \`disables\` of the plugin \`${plugin}\` has \`${unknown}\`.${didYouMean(unknown, OPERATIONS)}`)
    resource.disable(operations)
  }
}

function unknownResource(plugin: string, part: string, name: string, resources: ReadonlyMap<string, Resource>): Error {
  return new Error(
    `[auto-api] The plugin \`${plugin}\` has ${part} for \`${name}\`, which is not a registered resource.`
    + (didYouMean(name, [...resources.keys()]) || ` Register \`${name}\`, or name another resource in the options of the plugin.`),
  )
}
