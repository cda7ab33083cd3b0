/** The routes of plugins: validated when the server starts, found by method and path, run by the pipeline. */
import { addRoute, createRouter, findRoute, type RouterContext } from 'rou3'
import { findReservedName, ROUTES, toRouteKey, type Route as GeneratedRoute } from '../../shared/routes'
import type { Route, RoutesByMethod } from '../core/pipeline'
import { runEndpoint, type EndpointOptions } from '../core/endpoint'
import { assertAccepts } from '../core/media-type'
import type { PluginRoute } from './contract'

type OfPlugin = PluginRoute & { readonly plugin: string }

interface Mounted {
  readonly method: string
  readonly path: string
  readonly resource?: string
  readonly route: Route
}

export interface FoundRoute {
  readonly resource?: string
  /** The parameters by name, encoded as in the path. */
  readonly params: Readonly<Record<string, string>>
  /** It is absent if the path has no route for the method. */
  readonly route?: Route
  /** The routes of the path by method. */
  readonly methods: RoutesByMethod
}

export type FindRoute = (method: string, path: string) => FoundRoute | undefined

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const

/**
 * Creates the function that finds a plugin's route. Returns `undefined` if there are no routes.
 * @param appRoutes keys of the app's own routes below the prefix. They take precedence.
 * @throws When a route is invalid or already exists.
 */
export function createPluginRoutes(
  routes: readonly OfPlugin[],
  names: ReadonlySet<string>,
  appRoutes: readonly string[],
): FindRoute | undefined {
  const mounted = routes.flatMap(route => mount(route, names))
  assertUnique(mounted, names)
  assertUniqueNames(routes)
  const ofApp = new Set(appRoutes)
  const isAppRoute = (method: string, path: string) => ofApp.has(toRouteKey(path, method)) || ofApp.has(toRouteKey(path))
  const active = mounted.filter(({ method, path }) => !isAppRoute(method, path))
  if (active.length === 0) return undefined

  const router: RouterContext<Mounted> = createRouter<Mounted>()
  for (const route of active) addRoute(router, route.method, route.path, route)
  const find = (method: string, path: string) => findRoute(router, method, path, { params: true })
  return (requested, path) => {
    const method = requested === 'HEAD' ? 'GET' : requested
    const own = find(method, path)
    const matches = METHODS.flatMap(candidate => find(candidate, path) ?? [])
    const [first] = matches
    if (!first || (!own && isAppRoute(method, first.data.path))) return undefined
    return {
      resource: first.data.resource,
      params: (own ?? first).params ?? {},
      ...(own && { route: own.data.route }),
      methods: Object.fromEntries(matches.map(({ data }) => [data.method, data.route])),
    }
  }
}

/** Returns the first path segments below a resource. No record can have one of them as its id. */
export function reservedSegments(routes: readonly PluginRoute[]): string[] {
  return routes.flatMap(({ path }) => /^\/[^/]+\/([^:/]+)/.exec(path)?.slice(1) ?? [])
}

function mount(route: OfPlugin, names: ReadonlySet<string>): Mounted[] {
  const { method, path, resources, plugin } = route
  const where = `[auto-api] The plugin \`${plugin}\`: the route ${String(method)} ${String(path)}`
  if (!METHODS.includes(method)) throw new TypeError(`${where} has a method that is none of ${METHODS.join(', ')}.`)
  if (typeof path !== 'string' || !/^(?:\/(?::[a-z]\w*|[\w~-][\w.~-]*))+$/i.test(path))
    throw new TypeError(`${where} has a path that is not made of segments and \`:parameters\`, such as \`/:resource/export\`.`)
  if (typeof route.handler !== 'function') throw new TypeError(`${where} has no \`handler\`.`)
  assertAccepts(where, route)
  if (!/^\/:resource(?:\/|$)/.test(path)) {
    if (resources || route.operation)
      throw new TypeError(`${where} is for no resource: begin its path with \`/:resource\`, or leave out \`resources\` and \`operation\`.`)
    assertFirstSegment(where, path, names)
    return [{ method, path, route: endpoint(route) }]
  }
  if (!route.operation) throw new TypeError(`${where} has no \`operation\`, which \`/:resource\` requires.`)
  const unknown = resources?.find(name => !names.has(name))
  if (unknown !== undefined) throw new Error(`${where} is for \`${unknown}\`, which is not a registered resource.`)
  return (resources ?? [...names]).map(resource => ({
    method,
    path: path.replace(':resource', resource),
    resource,
    route: endpoint({ ...route, resource }),
  }))
}

/** @throws When the route would take requests of a resource. */
function assertFirstSegment(where: string, path: string, names: ReadonlySet<string>): void {
  const reserved = findReservedName(path)
  if (reserved === undefined)
    throw new TypeError(`${where} begins with a parameter, so it would match the paths of every resource. Begin it with a name.`)
  if (names.has(reserved))
    throw new Error(
      `${where} begins with the name of the resource \`${reserved}\`. Rename the resource, or use the path \`/:resource/…\` with `
      + `\`resources: ['${reserved}']\` in the plugin.`,
    )
}

const nameOf = ({ name, plugin, method, path }: OfPlugin) => name ?? `${plugin}: ${method} ${path}`

/** @throws When the name of a route is not text, or two routes have the same name. `around` of plugins identifies routes by name. */
function assertUniqueNames(routes: readonly OfPlugin[]): void {
  const known = new Set<string>(ROUTES.map(({ name }) => name))
  for (const route of routes) {
    const name = nameOf(route)
    const where = `[auto-api] The plugin \`${route.plugin}\`: the route ${route.method} ${route.path}`
    if (typeof name !== 'string' || name === '') throw new TypeError(`${where} has a \`name\` that is not a string.`)
    if (known.has(name)) throw new Error(`${where} has the name \`${name}\`, which another route has already.`)
    known.add(name)
  }
}

function endpoint(options: OfPlugin & { readonly resource?: string }): Route {
  // The schemas decide the types of `body` and `query`. The contract has their types before validation.
  const { operation } = options
  const run = options as unknown as EndpointOptions<undefined, undefined, unknown>
  const route: Route = (request, api) => runEndpoint(run, request, api, nameOf(options))
  return operation === undefined ? route : Object.assign(route, { operationOf: () => operation, operations: [operation] })
}

/** @throws When two routes have the same method and path. */
function assertUnique(mounted: readonly Mounted[], names: ReadonlySet<string>): void {
  const known = new Set(
    (ROUTES as readonly GeneratedRoute[]).flatMap(({ method, path }) =>
      (path.startsWith('/:resource') ? [...names].map(name => path.replace(':resource', name)) : [path]).map(path =>
        toRouteKey(path, method),
      ),
    ),
  )
  for (const { method, path } of mounted) {
    const key = toRouteKey(path, method)
    if (known.has(key))
      throw new Error(`[auto-api] A plugin has a route ${method} ${path}, which the API or another plugin has already.`)
    known.add(key)
  }
}
