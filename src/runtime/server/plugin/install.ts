/** Puts the listed plugins in their places when the server starts: what is wrong with one stops it. */
import type { Resource } from '../schema/model'
import { addExtender } from '../core/context'
import { addHooks } from '../core/hooks'
import type { Listeners } from '../core/listeners'
import type { AutoApiPlugin, ListedPlugin, PluginRoute, PluginTask } from './contract'

export interface Installed {
  readonly listeners: Listeners
  readonly routes: readonly (PluginRoute & { readonly plugin: string })[]
  readonly tasks: ReadonlyMap<string, PluginTask>
  /** Until a plugin that takes its time is set up; no request is answered before. */
  readonly pending?: Promise<void>
}

/** @throws What a plugin throws while it is made, and what is wrong with it. */
export function installPlugins(
  listed: readonly ListedPlugin[],
  resources: ReadonlyMap<string, Resource>,
  built: readonly string[],
): Installed {
  const found = listed.map(({ where, listed }) => ({ where, made: make(listed()) }))
  const installed = {
    listeners: { onRequest: [], onCaller: [], around: [], onCommit: [] },
    routes: [],
    tasks: new Map(),
  } satisfies Installed
  /** Answers the set-ups that take their time. */
  const install = (all: readonly { where: string, made: unknown }[]): Promise<unknown>[] => {
    const plugins = lastOfEachName(all.flatMap(({ where, made }) => toPlugins(made, where)))
    for (const plugin of plugins) put(plugin, installed, resources, built)
    return plugins.map(({ setup }) => setup?.()).filter(result => result instanceof Promise)
  }
  if (found.some(({ made }) => made instanceof Promise)) {
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
const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

const PARTS: Readonly<Record<keyof AutoApiPlugin, readonly [fits: (value: unknown) => boolean, what: string]>> = {
  name: [value => typeof value === 'string' && value !== '', 'a string'],
  setup: [isFunction, 'a function'],
  onRequest: [isFunction, 'a function'],
  extendContext: [isFunction, 'a function'],
  onCaller: [isFunction, 'a function'],
  around: [isFunction, 'a function'],
  hooks: [isObject, 'an object of hooks by resource'],
  onCommit: [isFunction, 'a function'],
  routes: [Array.isArray, 'a list of routes'],
  tasks: [isObject, 'an object of tasks by name'],
  buildSetup: [isFunction, 'a function'],
}

function assertPlugin(plugin: unknown, where: string): asserts plugin is AutoApiPlugin {
  if (!isObject(plugin))
    throw new TypeError(
      `[auto-api] \`${where}\` is no plugin. A file's default export is what \`defineAutoApiPlugin()\` returns, a list of these, or a function that makes them.`,
    )
  const { name } = plugin as { name?: unknown }
  for (const [part, [fits, what]] of Object.entries(PARTS)) {
    const value = (plugin as Record<string, unknown>)[part]
    if ((value !== undefined || part === 'name') && !fits(value))
      throw new TypeError(`[auto-api] \`${where}\`: \`${part}\` of the plugin ${JSON.stringify(name)} is not ${what}.`)
  }
  const unknown = Object.keys(plugin as object).find(key => !Object.hasOwn(PARTS, key) && key !== '__recipe')
  if (unknown !== undefined)
    throw new TypeError(
      `[auto-api] \`${where}\`: the plugin \`${String(name)}\` has \`${unknown}\`, which is no part of a plugin. The parts are ${Object.keys(PARTS).join(', ')}.`,
    )
}

/** In the place of the first, what is listed last: a file can hold what the config cannot. */
function lastOfEachName(plugins: readonly AutoApiPlugin[]): AutoApiPlugin[] {
  return [...new Map(plugins.map(plugin => [plugin.name, plugin])).values()]
}

type Filling = { readonly [K in keyof Listeners]: Listeners[K][number][] }

function put(
  plugin: AutoApiPlugin,
  { listeners, routes, tasks }: Installed,
  resources: ReadonlyMap<string, Resource>,
  built: readonly string[],
): void {
  const { name, onRequest, extendContext, onCaller, around, hooks = {}, onCommit, buildSetup } = plugin
  if (buildSetup && !built.includes(name))
    throw new Error(
      `[auto-api] The plugin \`${name}\` has a \`buildSetup\`, which never ran: the file that makes it is loaded by the server alone. List the plugin in \`autoApi.plugins\` of nuxt.config as well.`,
    )
  const { onRequest: requests, onCaller: callers, around: arounds, onCommit: commits } = listeners as Filling
  if (onRequest) requests.push(onRequest)
  if (extendContext) addExtender(extendContext)
  if (onCaller) callers.push(onCaller)
  if (around) arounds.push(around)
  if (onCommit) commits.push(onCommit)
  for (const [resource, own] of Object.entries(hooks)) {
    if (resource !== '*' && !resources.has(resource))
      throw new Error(`[auto-api] The plugin \`${name}\` has hooks for \`${resource}\`, which is not a registered resource.`)
    addHooks(own, resource === '*' ? undefined : resource)
  }
  ;(routes as (PluginRoute & { plugin: string })[]).push(...(plugin.routes ?? []).map(route => ({ ...route, plugin: name })))
  for (const [task, work] of Object.entries(plugin.tasks ?? {})) {
    if (!Number.isInteger(work?.every) || work.every < 1 || typeof work.run !== 'function')
      throw new TypeError(
        `[auto-api] The task \`${task}\` of the plugin \`${name}\` needs \`every\`, a whole number of minutes, and \`run\`, a function.`,
      )
    ;(tasks as Map<string, PluginTask>).set(`${name}:${task}`, work)
  }
}
