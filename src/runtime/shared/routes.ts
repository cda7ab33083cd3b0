/** The generated routes. The build mounts them, the server handles them, and the client calls them. */
import type { Operation } from './operations'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

export interface Route {
  /** Unique name. The client and the types use it to identify the route. */
  readonly name: string
  readonly method: Method
  /** Path after the prefix. A leading `/:resource` stands for the name of a registered resource. */
  readonly path: string
  /** The operation whose permission the route requires; `null` if the route requires no permission. */
  readonly operation: Operation | null
  /** The operation that a parameter selects instead: `?force=true` changes a delete to a purge. */
  readonly alternative?: Operation
}

export const ROUTES = [
  { name: 'list', method: 'GET', path: '/:resource', operation: 'read' },
  { name: 'create', method: 'POST', path: '/:resource', operation: 'create' },
  { name: 'aggregate', method: 'GET', path: '/:resource/aggregate', operation: 'aggregate' },
  { name: 'resource-permissions', method: 'GET', path: '/:resource/permissions', operation: null },
  { name: 'bulk-create', method: 'POST', path: '/:resource/bulk', operation: 'create' },
  { name: 'bulk-update', method: 'PATCH', path: '/:resource/bulk', operation: 'update' },
  { name: 'bulk-delete', method: 'DELETE', path: '/:resource/bulk', operation: 'delete', alternative: 'purge' },
  { name: 'bulk-restore', method: 'POST', path: '/:resource/bulk/restore', operation: 'restore' },
  { name: 'get', method: 'GET', path: '/:resource/:id', operation: 'read' },
  { name: 'update', method: 'PATCH', path: '/:resource/:id', operation: 'update' },
  { name: 'delete', method: 'DELETE', path: '/:resource/:id', operation: 'delete', alternative: 'purge' },
  { name: 'restore', method: 'POST', path: '/:resource/:id/restore', operation: 'restore' },
  { name: 'related', method: 'GET', path: '/:resource/:id/relations/:relation', operation: 'read' },
  { name: 'relation-replace', method: 'PUT', path: '/:resource/:id/relations/:relation', operation: 'update' },
  { name: 'relation-add', method: 'POST', path: '/:resource/:id/relations/:relation', operation: 'update' },
  { name: 'relation-remove', method: 'DELETE', path: '/:resource/:id/relations/:relation', operation: 'update' },
  { name: 'relations-replace', method: 'PUT', path: '/:resource/:id/relations', operation: 'update' },
  { name: 'permissions', method: 'GET', path: '/permissions', operation: null },
  { name: 'schema', method: 'GET', path: '/_schema', operation: null },
  { name: 'm2m-junctions', method: 'GET', path: '/_m2m/junctions', operation: null },
  { name: 'm2m-is-junction', method: 'GET', path: '/_m2m/is-junction/:table', operation: null },
  { name: 'm2m-detect', method: 'GET', path: '/_m2m/detect/:name', operation: null },
] as const satisfies readonly Route[]

export type RouteName = typeof ROUTES[number]['name']

/** The file of `server/routes` that handles all methods of a path. One handler per path makes a smaller build than one per route. */
export const PATHS: Readonly<Record<typeof ROUTES[number]['path'], string>> = {
  '/:resource': 'collection',
  '/:resource/aggregate': 'aggregate',
  '/:resource/permissions': 'resource-permissions',
  '/:resource/bulk': 'bulk',
  '/:resource/bulk/restore': 'bulk-restore',
  '/:resource/:id': 'record',
  '/:resource/:id/restore': 'restore',
  '/:resource/:id/relations/:relation': 'relation',
  '/:resource/:id/relations': 'relations',
  '/permissions': 'permissions',
  '/_schema': 'schema',
  '/_m2m/junctions': 'm2m-junctions',
  '/_m2m/is-junction/:table': 'm2m-is-junction',
  '/_m2m/detect/:name': 'm2m-detect',
}

/** Replaces the names of parameters. Paths with the same shape match the same requests: `/posts/:id` and `/posts/:slug/` → `/posts/:`. */
export function toShape(path: string): string {
  return path.replace(/\/(?::\w+|\*)(?=\/|$)/g, '/:').replace(/\/$/, '')
}

/** Returns the method and the shape of a route as one text. The method is empty if a handler handles all methods. */
export function toRouteKey(path: string, method = ''): string {
  return `${method.toUpperCase()} ${toShape(path)}`
}

/** Names that a resource cannot have, because they are paths of global routes. */
export const RESERVED_NAMES: readonly string[] = Object.freeze(['permissions'])

/** Returns the first segment of a path that belongs to no resource. No resource can have it as its name. */
export function findReservedName(path: string): string | undefined {
  return /^\/([^:/]+)/.exec(path)?.[1]
}

/** Values that cannot be the id of a record, because they are paths of the resource's other routes. */
export const RESERVED_IDS: ReadonlySet<string> = new Set(ROUTES.flatMap(({ path }) => /^\/:resource\/([^:/]+)/.exec(path)?.slice(1) ?? []))
