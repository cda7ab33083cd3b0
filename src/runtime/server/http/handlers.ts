/** Creates the event handlers of the routes. */
import { attempt } from '../core/awaitable'
import type { Method } from '../../shared/routes'
import type { ServerApi } from '../api/create'
import { allowedMethods, assertEnabled, type Route, type RoutesByMethod } from '../core/entries/route'
import { isHttpError, methodNotAllowed } from '../core/error'
import type { ApiResponse } from '../core/extensions/response'
import type { ApiRequest } from '../core/request/api-request'
import { wantsErrorsAs } from '../core/request/media-type'
import { handle, requireApi, toHttpError } from './handle'
import { headerOf } from './headers'
import { platformOf } from './platform'
import { defineEventHandler, type ApiEvent, type EventHandler, type EventHandlerRequest } from './platform/h3'
import { PROBLEM_TYPE } from './problem'
import {
  requireResource, toArrivingRequest, toCustomRequest, toGlobalRequest, toPluginRequest, toResourceRequest, type ToRequest,
} from './request'
import { respondToOptions, respondWithProblem, respondWithRevision, respondWithTag } from './respond'
import { segmentsBelow, sentUrl } from './url'

/** A handler with a typed response body. Nitro derives the type of the route from it. */
export type TypedHandler<Body> = EventHandler<EventHandlerRequest, Promise<Body>>

/** The routes of a path by method. */
export type Methods = Readonly<Partial<Record<Method, Route>>>

/** Creates an event handler that returns its HTTP errors as problem details if the client asks for them. Nitro renders other errors. */
function defineApiHandler(run: (event: ApiEvent) => unknown): EventHandler {
  const fail = (event: ApiEvent, error: unknown) => {
    if (!isHttpError(error) || !wantsErrorsAs(headerOf(event, 'accept'), PROBLEM_TYPE)) throw error
    return respondWithProblem(event, error)
  }
  // Most clients do not name the type, and then h3 can have the promise as it is.
  return defineEventHandler(event =>
    NAMES_PROBLEM.test(headerOf(event, 'accept') ?? '') ? attempt(() => run(event), error => fail(event, error)) : run(event))
}

const NAMES_PROBLEM = /problem\+json/i

/** Creates the event handler of a generated path below a resource. */
export function defineRoutes(methods: Methods): EventHandler {
  return defineMethods(methods, toResourceRequest)
}

/** Creates the event handler of a path of the whole API, without a resource. */
export function defineGlobalRoutes(methods: Methods): EventHandler {
  return defineMethods(methods, toGlobalRequest)
}

/** Returns 405 with `Allow` for a method that the path does not have, before any other check. HEAD runs the GET without its body. */
function defineMethods(methods: Methods, toRequest: ToRequest): EventHandler {
  const routes = new Map<string, Route>(Object.entries(methods))
  const get = routes.get('GET')
  if (get) routes.set('HEAD', get)
  return defineApiHandler((event) => {
    const api = requireApi(event)
    if (event.method === 'OPTIONS') return respondToOptions(event, allowedOn(event, api, methods))
    const appGet = event.method === 'HEAD' ? findGetOfApp(event, api) : undefined
    if (typeof appGet === 'function') return appGet(event)
    const route = appGet ? undefined : routes.get(event.method)
    if (!route)
      throw toHttpError(event, methodNotAllowed(allowedOn(event, api, methods).filter(method => !appGet || method !== 'HEAD')))
    return handle(
      event,
      api,
      () => toRequest(event, api),
      request => runEnabled(request, api, route, methods),
      respondWithTag,
    )
  })
}

/** Returns the methods of a path, without methods that its resource has disabled. */
function allowedOn(event: ApiEvent, { mountPath, resources }: ServerApi, methods: Methods): readonly string[] {
  const [name] = segmentsBelow(mountPath, event, sentUrl(event))
  return allowedMethods(methods, resources.get(name ?? '')?.disabled)
}

function runEnabled(request: ApiRequest, api: ServerApi, route: Route, methods: RoutesByMethod): Promise<ApiResponse> {
  assertEnabled(methods, route, request, api)
  return route(request, api)
}

/** Returns the app's own GET handler of this path, or whether there is one. The app then handles HEAD too. */
function findGetOfApp(event: ApiEvent, api: ServerApi): ((event: ApiEvent) => unknown) | boolean {
  const { pattern, get } = platformOf(event).matchedRoute(event)
  return get ?? (pattern !== undefined && api.isAppRoute('GET', pattern))
}

/** Creates the event handler of an endpoint of the app, with the caller and the errors of the API. */
export function defineCustomRoute(route: Route): EventHandler {
  return defineApiHandler((event) => {
    const api = requireApi(event)
    return handle(event, api, () => toCustomRequest(event, api), request => route(request, api))
  })
}

/** Creates the middleware that handles the routes of plugins. It passes every other request to the router. */
export function definePluginRoutes(): EventHandler {
  return defineApiHandler((event) => {
    const api = requireApi(event)
    if (!event.path.startsWith(`${api.mountPath}/`)) return
    const run = () => {
      announce(event, api)
      return api.hasPluginRoutes() ? runPluginRoute(event, api) : undefined
    }
    return api.whenReady()?.catch((error: unknown) => {
      throw toHttpError(event, error)
    }).then(run) ?? run()
  })
}

function runPluginRoute(event: ApiEvent, api: ServerApi): unknown {
  const path = segmentsBelow(api.mountPath, event, sentUrl(event))
  // An encoded slash would split one segment into two.
  const accept = () => headerOf(event, 'accept')
  const found = path[0]?.includes('/') ? undefined : api.findPluginRoute(event.method, `/${path.join('/')}`, accept)
  if (!found) return
  const { resource: name, params, route, methods, negotiated } = found
  const resource = name === undefined ? undefined : requireResource(api, name)
  // The other route of the path lists every allowed method in its error.
  if (negotiated && route?.operations?.some(operation => resource?.disabled.has(operation))) return
  const allowed = allowedMethods(methods, resource?.disabled)
  if (event.method === 'OPTIONS') return respondToOptions(event, allowed)
  if (!route) throw toHttpError(event, methodNotAllowed(allowed))
  return handle(
    event,
    api,
    () => toPluginRequest(event, api, resource, params),
    request => runEnabled(request, api, route, methods),
    respondWithRevision,
  )
}

/** Runs the listeners of every request below the prefix. */
function announce(event: ApiEvent, api: ServerApi): void {
  try {
    for (const listen of api.listeners.onArrival) listen(toArrivingRequest(event, api))
  }
  catch (error) {
    throw toHttpError(event, error)
  }
}
