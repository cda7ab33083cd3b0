/** The routes of plugins: validated when the server starts, found by method and path, run by the pipeline. */
import { addRoute, createRouter, findRoute, type RouterContext } from 'rou3'
import { findReservedName, ROUTES, toRouteKey, type Route as GeneratedRoute } from '../../shared/routes'
import type { Route, RoutesByMethod } from '../core/entries/route'
import { runEndpoint, type EndpointOptions, type PluginRouteFacts } from '../core/entries/endpoint'
import { assertDryRun, assertNoDryRun } from '../core/parse/dry-run'
import { assertParameters, LIST_PARAMETERS } from '../core/parse/parameters'
import { readOperations } from '../core/parse/params'
import { UPSERT_ROUTES } from '../core/entries/upsert/route'
import { assertAccepts, assertProduces, preferredType } from '../core/request/media-type'
import type { PluginRoute } from './contract'
import { findDirectRoute } from './direct-route'

type OfPlugin = PluginRoute & { readonly plugin: string }

interface Mounted {
  readonly method: string
  readonly path: string
  readonly resource?: string
  /** The media types that the request has to prefer. */
  readonly produces?: readonly string[]
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
  /** Whether the `Accept` header chose the route. Then the path also has another route for the method. */
  readonly negotiated?: true
}

/** @param accept returns the `Accept` header of the request */
export type FindRoute = (method: string, path: string, accept: () => string | undefined) => FoundRoute | undefined

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

  const router = toRouter(active.filter(({ produces }) => !produces))
  const negotiated = toRouter(active.filter(({ produces }) => produces))
  const find = (method: string, path: string) => findRoute(router, method, path, { params: true })
  return (requested, path, accept) => {
    const method = requested === 'HEAD' ? 'GET' : requested
    const byType = findRoute(negotiated, method, path, { params: true })
    if (byType && preferredType(accept(), byType.data.produces!) !== undefined) {
      const { resource, route } = byType.data
      return { resource, params: byType.params ?? {}, route, methods: { [method]: route }, negotiated: true }
    }
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

function toRouter(routes: readonly Mounted[]): RouterContext<Mounted> {
  const router = createRouter<Mounted>()
  for (const route of routes) addRoute(router, route.method, route.path, route)
  return router
}

/** Returns the first path segments below a resource. No record can have one of them as its id. */
export function reservedSegments(routes: readonly PluginRoute[]): string[] {
  return routes.flatMap(({ path }) => /^\/[^/]+\/([^:/]+)/.exec(path)?.slice(1) ?? [])
}

function mount(route: OfPlugin, names: ReadonlySet<string>): Mounted[] {
  const { method, path, resources, produces, plugin } = route
  const where = `[auto-api] The plugin \`${plugin}\`: the route ${String(method)} ${String(path)}`
  if (!METHODS.includes(method)) throw new TypeError(`${where} has a method that is none of ${METHODS.join(', ')}.`)
  if (typeof path !== 'string' || !/^(?:\/(?::[a-z]\w*|[\w~-][\w.~-]*))+$/i.test(path))
    throw new TypeError(`${where} has a path that is not made of segments and \`:parameters\`, such as \`/:resource/export\`.`)
  if (typeof route.handler !== 'function') throw new TypeError(`${where} has no \`handler\`.`)
  assertAccepts(where, route)
  assertProduces(where, route)
  if (!/^\/:resource(?:\/|$)/.test(path)) {
    const { operation, gate, listParameters, idempotent } = route
    const extra = Object.entries({ resources, operation, gate, listParameters, idempotent }).find(([, value]) => value !== undefined)?.[0]
    if (extra !== undefined)
      throw new TypeError(`${where} is for no resource: begin its path with \`/:resource\`, or leave out \`${extra}\`.`)
    assertFirstSegment(where, path, names)
    return [{ method, path, produces, route: endpoint(route) }]
  }
  if (!route.operation) throw new TypeError(`${where} has no \`operation\`, which \`/:resource\` requires.`)
  if (Array.isArray(route.operation) && route.gate !== undefined)
    throw new TypeError(`${where} has \`gate\`, which requires a single operation.`)
  if (route.listParameters && route.operation !== 'read')
    throw new TypeError(`${where} has \`listParameters\`, which requires the operation \`read\`.`)
  const unknown = resources?.find(name => !names.has(name))
  if (unknown !== undefined) throw new Error(`${where} is for \`${unknown}\`, which is not a registered resource.`)
  return (resources ?? [...names]).map(resource => ({
    method,
    path: path.replace(':resource', resource),
    resource,
    produces,
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
  const known = new Set<string>([...ROUTES.map(({ name }) => name), ...UPSERT_ROUTES])
  for (const route of routes) {
    const name = nameOf(route)
    const where = `[auto-api] The plugin \`${route.plugin}\`: the route ${route.method} ${route.path}`
    if (typeof name !== 'string' || name === '') throw new TypeError(`${where} has a \`name\` that is not a string.`)
    if (known.has(name)) throw new Error(`${where} has the name \`${name}\`, which another route has already.`)
    known.add(name)
  }
}

type Operations = ReturnType<NonNullable<PluginRouteFacts['operationsOf']>>

function endpoint(options: OfPlugin & { readonly resource?: string }): Route {
  const direct = findDirectRoute(options.handler)
  if (direct) return directRoute(direct, options)
  // The schemas decide the types of `body` and `query`. The contract has their types before validation.
  const { gate, listParameters, countsAs, parameters } = options
  const operations = options.operation === undefined ? undefined : [options.operation].flat() as unknown as Operations
  const operation = operations?.[0]
  const run = { ...options, operation } as unknown as EndpointOptions<undefined, undefined, unknown>
  const anyOf = operations !== undefined && operations.length > 1
  const facts = {
    name: nameOf(options), gate, countsAs,
    parameters: listParameters && parameters ? [...LIST_PARAMETERS, ...parameters] : parameters,
    ...listParameters && { operationsOf: readOperations },
    ...anyOf && { operationsOf: () => operations, anyOf },
  }
  const route: Route = (request, api) => runEndpoint(run, request, api, facts)
  return operation === undefined ? route : Object.assign(route, { operationOf: () => operation, operations, anyOf })
}

/** The request is checked as for other routes, but without a session: the route opens its own. */
function directRoute(run: Route, { dryRun, parameters }: PluginRoute): Route {
  return async (request, api) => {
    if (dryRun) assertDryRun(request)
    else assertNoDryRun(request)
    if (parameters && api.config.http.strictParameters !== false) assertParameters(parameters, request, api.config)
    return run(request, api)
  }
}

/** @throws When two routes have the same method and path. Only a route with `produces` can share them with a route without. */
function assertUnique(mounted: readonly Mounted[], names: ReadonlySet<string>): void {
  const known = new Set(
    (ROUTES as readonly GeneratedRoute[]).flatMap(({ method, path }) =>
      (path.startsWith('/:resource') ? [...names].map(name => path.replace(':resource', name)) : [path]).map(path =>
        toRouteKey(path, method),
      ),
    ),
  )
  for (const { method, path, produces } of mounted) {
    // One route of a path decides about its `Accept` header.
    const key = produces ? `${toRouteKey(path, method)} by media type` : toRouteKey(path, method)
    if (known.has(key))
      throw new Error(`[auto-api] A plugin has a route ${method} ${path}, which the API or another plugin has already.`)
    known.add(key)
  }
}
