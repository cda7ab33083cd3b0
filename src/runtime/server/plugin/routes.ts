/** The routes of plugins: each checked when the server starts, found by method and path, answered by the gate and the pipeline of all others. */
import { addRoute, createRouter, findRoute, type RouterContext } from 'rou3'
import { ROUTES, toRouteKey, type Route as GeneratedRoute } from '../../shared/routes'
import { toRoute, type Route, type RoutesByMethod, type RouteSteps } from '../core/pipeline'
import type { Plan } from '../core/access/row-scope'
import { runEndpoint, type EndpointOptions } from '../core/endpoint'
import type { PluginEndpoint, PluginRoute } from './contract'

type OfPlugin = PluginRoute & { readonly plugin: string }

interface Mounted {
  readonly method: string
  readonly path: string
  readonly resource?: string
  readonly route: Route
}

export interface FoundRoute {
  readonly resource?: string
  /** By name, as they stand in the path. */
  readonly params: Readonly<Record<string, string>>
  /** Absent where the path is known and the method is not. */
  readonly route?: Route
  /** The methods that are, with their routes. */
  readonly methods: RoutesByMethod
}

export type FindRoute = (method: string, path: string) => FoundRoute | undefined

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const

/**
 * @param taken routes of the app below the prefix, by key: ours give way
 * @throws When a route cannot be answered, or already is.
 */
export function createPluginRoutes(
  routes: readonly OfPlugin[],
  names: ReadonlySet<string>,
  taken: readonly string[],
): FindRoute | undefined {
  const mounted = routes.flatMap(route => mount(route, names))
  assertFree(mounted, names)
  const others = new Set(taken)
  const isTaken = (method: string, path: string) => others.has(toRouteKey(path, method)) || others.has(toRouteKey(path))
  const left = mounted.filter(({ method, path }) => !isTaken(method, path))
  if (left.length === 0) return undefined

  const router: RouterContext<Mounted> = createRouter<Mounted>()
  for (const route of left) addRoute(router, route.method, route.path, route)
  const find = (method: string, path: string) => findRoute(router, method, path, { params: true })
  return (sent, path) => {
    const method = sent === 'HEAD' ? 'GET' : sent
    const own = find(method, path)
    const known = METHODS.flatMap(known => find(known, path) ?? [])
    const [any] = known
    if (!any || (!own && isTaken(method, any.data.path))) return undefined
    return {
      resource: any.data.resource,
      params: (own ?? any).params ?? {},
      ...(own && { route: own.data.route }),
      methods: Object.fromEntries(known.map(({ data }) => [data.method, data.route])),
    }
  }
}

/** Segments right below a resource. */
export function takenSegments(routes: readonly PluginRoute[]): string[] {
  return routes.flatMap(({ path }) => /^\/[^/]+\/([^:/]+)/.exec(path)?.slice(1) ?? [])
}

function mount(route: OfPlugin, names: ReadonlySet<string>): Mounted[] {
  const { method, path, resources, plugin } = route
  const where = `[auto-api] The plugin \`${plugin}\`: the route ${String(method)} ${String(path)}`
  if (!METHODS.includes(method)) throw new TypeError(`${where} has a method that is none of ${METHODS.join(', ')}.`)
  if (typeof path !== 'string' || !/^(?:\/(?::[a-z]\w*|[\w~-][\w.~-]*))+$/i.test(path))
    throw new TypeError(`${where} has a path that is not made of segments and \`:parameters\`, such as \`/:resource/export\`.`)
  if (!('steps' in route) && typeof route.handler !== 'function') throw new TypeError(`${where} has no \`handler\`.`)
  if (!/^\/:resource(?:\/|$)/.test(path)) {
    if (resources || 'steps' in route || route.operation)
      throw new TypeError(
        `${where} is for no resource: begin its path with \`/:resource\`, or leave out \`resources\`, \`operation\` and \`steps\`.`,
      )
    return [{ method, path, route: endpoint(route) }]
  }
  if (!('steps' in route) && !route.operation) throw new TypeError(`${where} has no \`operation\`: what does it do with the resource?`)
  const unknown = resources?.find(name => !names.has(name))
  if (unknown !== undefined) throw new Error(`${where} is for \`${unknown}\`, which is not a registered resource.`)
  return (resources ?? [...names]).map(resource => ({
    method,
    path: path.replace(':resource', resource),
    resource,
    route: toRouteOf(route, resource),
  }))
}

function toRouteOf(route: PluginRoute, resource: string): Route {
  return 'steps' in route ? toRoute(route.steps as unknown as RouteSteps<unknown, Plan, unknown>) : endpoint({ ...route, resource })
}

function endpoint(options: PluginEndpoint & { readonly resource?: string }): Route {
  // Schemas decide what `body` and `query` are; the contract's type knows them as they come.
  const { operation } = options
  const route: Route = (request, api) => runEndpoint(options as unknown as EndpointOptions<undefined, undefined, unknown>, request, api)
  return operation === undefined ? route : Object.assign(route, { operationOf: () => operation, operations: [operation] })
}

/** @throws Where two would answer one request. */
function assertFree(mounted: readonly Mounted[], names: ReadonlySet<string>): void {
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
      throw new Error(`[auto-api] A plugin has a route ${method} ${path}, which the API or another plugin answers already.`)
    known.add(key)
  }
}
