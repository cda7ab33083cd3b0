/** Creates an API: builds the resources of the registrations and installs every plugin. */
import type { AutoApiConfig } from '../../shared/config'
import { DEFAULT_CONFIG } from '../../shared/defaults'
import { RESERVED_IDS, toRouteKey } from '../../shared/routes'
import type { Api } from '../core/api'
import { createDatabase, type Database } from '../core/replicas/database'
import { createExtensions, type Extensions } from '../core/extensions/extensions'
import { createSecrets } from '../core/process/secret'
import { createStatementCache, type StatementCache } from '../core/sql/statement-cache'
import type { ListedPlugin, PluginRoute } from '../plugin/contract'
import { provideDatabaseClient } from '../plugin/database-client'
import { installPlugins } from '../plugin/install'
import { createPluginRoutes, reservedSegments, type FindRoute } from '../plugin/routes'
import { provideRoutes, type MountedEndpoint } from '../plugin/routes-of'
import { createPluginServer } from '../plugin/server'
import type { StorageMounts } from '../plugin/storage'
import { createScheduler, type Scheduler } from '../plugin/tasks'
import type { ResourceRegistration } from '../registration'
import { createGraph } from '../schema/graph'
import { findPresetTable } from '../schema/preset-tables'
import { findUnscoped } from '../schema/computed'
import { assertWires, createResources } from '../schema/resource'
import { warnAboutSecrets } from './secret-warnings'

export interface ApiOptions {
  readonly registrations: readonly ResourceRegistration[]
  /** All exports of every file that contains a registered table. The API finds unregistered tables there. */
  readonly modules?: readonly Record<string, unknown>[]
  readonly config?: AutoApiConfig
  /** The part of the app's base URL that the path of an event contains. @default '' */
  readonly eventBase?: string
  readonly plugins?: readonly ListedPlugin[]
  /** The parts of plugins that ran at build time, as `plugin.part`: `buildSetup` and `resources`. A test has no build: `'all'`. */
  readonly builtPlugins?: readonly string[] | 'all'
  /** The app's own file routes below the prefix, as `METHOD /pattern`: a path without parameter names. */
  readonly appRoutes?: readonly string[]
  /** Loads the app's endpoints, for plugins that describe the API. @default none */
  readonly endpoints?: () => Promise<readonly MountedEndpoint[]>
  /** Nitro's `useRuntimeConfig`. It is absent outside of Nitro. */
  readonly useRuntimeConfig?: (event?: unknown) => unknown
  /** Nitro's `useStorage`. It is absent outside of Nitro. */
  readonly useStorage?: () => StorageMounts
  readonly database?: Database
  readonly statements?: StatementCache
  /** Adds extensions before those of plugins. */
  readonly extend?: (extensions: Extensions) => void
}

/** An API with the routes and tasks of its plugins. */
export interface ServerApi extends Api {
  /** Returns a promise until every plugin is set up, and `undefined` afterwards. Requests wait for the promise. */
  readonly whenReady: () => Promise<void> | undefined
  /** Finds the route of a plugin by its method and its path below the prefix. */
  readonly findPluginRoute: FindRoute
  readonly hasPluginRoutes: () => boolean
  /** The routes of all plugins. It grows until every plugin is set up. */
  readonly pluginRoutes: readonly PluginRoute[]
  /** The path of an event before the resource: the prefix, with the part of the base URL that h3 does not remove. */
  readonly mountPath: string
  /** The app's own file routes below the prefix, as `METHOD /pattern`. */
  readonly appRoutes: readonly string[]
  /** Whether the app has its own file for this method of a route. The route is that of the router, without the base URL. */
  readonly isAppRoute: (method: string, route: string) => boolean
  /** Runs the tasks of plugins, and decides which server runs a task. */
  readonly scheduler: Scheduler
}

/**
 * @returns A frozen value that shares no state with other APIs.
 * @throws When a registration cannot become a resource, or a plugin cannot be set up. No partial state remains.
 * @example
 * const api = createApi({ registrations: [{ name: 'posts', schema: posts, authorization: { permissions: { read: true } } }] })
 * api.initializeDatabase(db, 'better-sqlite3')
 * api.addContextExtender((ctx) => { ctx.user = findUser(ctx.event) })
 */
export function createApi(options: ApiOptions): ServerApi {
  const { registrations, modules = [], config = DEFAULT_CONFIG, eventBase = '', plugins = [], builtPlugins = [], appRoutes = [] } = options
  const { useRuntimeConfig, database = createDatabase(), statements = createStatementCache(), endpoints = async () => [] } = options
  const resources = createResources(registrations, modules, config)
  assertWires(resources)
  for (const message of findUnscoped(resources)) console.warn(message)
  const extensions = createExtensions(resources)
  options.extend?.(extensions)
  const ownRoutes = new Set(appRoutes)
  const server = createPluginServer({
    api: () => api, resources, modules, config, services: extensions.services, useStorage: options.useStorage, useRuntimeConfig, database,
  })
  const isReplaced = (method: string, path: string) => ownRoutes.has(toRouteKey(path, method)) || ownRoutes.has(toRouteKey(path))
  provideDatabaseClient(server, database)
  provideRoutes(server, () => ({ ofPlugins: routes, endpoints, isAppRoute: isReplaced }))
  const { routes, tasks, pending } = installPlugins(plugins, extensions, { resources, builtPlugins, server })

  const reservedIds = new Set(RESERVED_IDS)
  let findRoute: FindRoute | undefined
  const mountRoutes = () => {
    findRoute = createPluginRoutes(routes, new Set(resources.keys()), appRoutes)
    for (const segment of reservedSegments(routes)) reservedIds.add(segment)
  }
  const finish = () => {
    mountRoutes()
    // Plugins have added their hooks now.
    warnAboutSecrets(resources.values(), extensions.hooks, config, useRuntimeConfig)
  }
  let ready = pending?.then(() => {
    finish()
    ready = undefined
  })
  if (!ready) finish()
  // Waiting requests get the error. Without this handler, Node would end the process if no request waits yet.
  ready?.catch(() => {})

  const api: ServerApi = Object.freeze({
    ...extensions,
    config,
    resources,
    graph: createGraph(resources, modules),
    statements,
    database,
    initializeDatabase: database.initialize,
    reservedIds,
    secrets: createSecrets(useRuntimeConfig, import.meta.dev === true),
    whenReady: () => ready,
    hasPluginRoutes: () => findRoute !== undefined,
    pluginRoutes: routes,
    findPluginRoute: (...request: Parameters<FindRoute>) => findRoute?.(...request),
    mountPath: eventBase + config.prefix,
    appRoutes,
    isAppRoute: (method: string, route: string) =>
      route.startsWith(`${config.prefix}/`) && ownRoutes.has(toRouteKey(route.slice(config.prefix.length), method)),
    scheduler: createScheduler({
      tasks,
      ownTasks: [...resources.values()].some(({ auth }) => auth?.softDelete?.retentionDays !== undefined) ? ['auto-api:trash'] : [],
      table: findPresetTable(modules, 'taskRuns'),
      database,
    }),
  })
  return api
}
