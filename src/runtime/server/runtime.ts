/** The door to the generated modules: registrations, options and plugins become one frozen API, on first use. */
import { config, server } from '#auto-api/config'
import { built, plugins, taken } from '#auto-api/plugins'
import { registrations, schemaModules } from '#auto-api/registry'
import { useRuntimeConfig } from '#auto-api/runtime-config'
import { useStorage } from '#auto-api/storage'
import type { Api } from './core/context'
import { createStatementCache } from './core/sql/statement-cache'
import { RESERVED_IDS, toRouteKey } from '../shared/routes'
import type { PluginTask } from './plugin/contract'
import { createPluginRoutes, takenSegments, type FindRoute } from './plugin/routes'
import { installPlugins } from './plugin/install'
import { createGraph } from './schema/graph'
import { createResources } from './schema/resource'
import { createSecret, warnWithoutSecret } from './core/secret'
import { provideStorages } from './plugin/storage'

interface Runtime {
  readonly api: Api
  readonly tasks: ReadonlyMap<string, PluginTask>
  findRoute?: FindRoute
  pending?: Promise<void>
}

let runtime: Runtime | undefined

/** @throws When a registration cannot become a resource, or a plugin cannot be set up. */
export function useApi(): Api {
  return (runtime ??= createRuntime()).api
}

/** Until every plugin is set up; mostly there is nothing to wait for. */
export function whenReady(): Promise<void> | undefined {
  return (runtime ??= createRuntime()).pending
}

/** The routes of plugins. */
export function findPluginRoute(method: string, path: string): ReturnType<FindRoute> {
  return (runtime ??= createRuntime()).findRoute?.(method, path)
}

const appRoutes = new Set(taken)

/** Whether a route of the router, from the server's root, is a file of the app's for this method. */
export function isAppRoute(method: string, route: string): boolean {
  const { prefix } = useApi().config
  return route.startsWith(`${prefix}/`) && appRoutes.has(toRouteKey(route.slice(prefix.length), method))
}

export function pluginTasks(): ReadonlyMap<string, PluginTask> {
  return (runtime ??= createRuntime()).tasks
}

/** @throws When what calls it is not running in a server: there it would have no effect. */
export function assertServer(name: string): void {
  if (!server) throw new Error(`[auto-api] ${name}() was called outside the server. Call it in a server plugin (server/plugins).`)
}

function createRuntime(): Runtime {
  const modules = schemaModules()
  const resources = createResources(registrations(), modules, config)
  const reserved = new Set(RESERVED_IDS)
  provideStorages(useStorage)
  warnWithoutSecret(resources.values(), useRuntimeConfig)
  const { listeners, routes, tasks, pending } = installPlugins(plugins(), resources, built)
  const house: Runtime = {
    api: Object.freeze({
      config,
      resources,
      graph: createGraph(resources, modules),
      statements: createStatementCache(),
      plugins: listeners,
      taken: reserved,
      secret: createSecret(useRuntimeConfig, import.meta.dev === true),
    }),
    tasks,
  }
  const mount = () => {
    house.findRoute = createPluginRoutes(routes, new Set(resources.keys()), taken)
    for (const segment of takenSegments(routes)) reserved.add(segment)
  }
  if (!pending) mount()
  else {
    house.pending = pending.then(() => {
      mount()
      house.pending = undefined
    })
    // Whoever waits for it is told; nobody may be waiting yet.
    house.pending.catch(() => {})
  }
  return house
}
