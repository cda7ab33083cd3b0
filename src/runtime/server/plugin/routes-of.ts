/** All routes beside the generated ones, for plugins that describe the API. */
import { defineService } from '../core/extensions/services'
import type { AutoApiPlugin, PluginRoute } from './contract'
import type { PluginServer } from './server'

/** An endpoint of the app at the address where a router mounts it. */
export interface MountedEndpoint {
  /** In capital letters. Absent if the endpoint handles every method. */
  readonly method?: string
  /** With the prefix, without the base URL: `/api/posts/:id/publish`. */
  readonly path: string
  readonly handler: unknown
}

export interface ServerRoutes {
  readonly ofPlugins: readonly (PluginRoute & { readonly plugin: AutoApiPlugin['name'] })[]
  /** Loads the endpoints. */
  readonly endpoints: () => Promise<readonly MountedEndpoint[]>
  /** Whether a file of the app handles the requests of a path below the prefix. */
  readonly isAppRoute: (method: string, path: string) => boolean
}

const ROUTES = defineService<() => ServerRoutes>('routes')

export const provideRoutes = ({ services }: PluginServer, find: () => ServerRoutes): void => services.set(ROUTES, find)

/** Returns the routes of a server. Complete only after the `setup` of every plugin. */
export const readRoutes = ({ services }: PluginServer): ServerRoutes => services.get(ROUTES)!()
