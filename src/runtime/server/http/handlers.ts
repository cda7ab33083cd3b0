/** The HTTP adapter: converts events to requests, writes responses, and converts errors to h3 errors. Only this file imports h3. */
import { attempt } from '../core/awaitable'
import {
  createError,
  defineEventHandler,
  getResponseHeader,
  setResponseHeader,
  setResponseStatus,
  type EventHandler,
  type EventHandlerRequest,
  type H3Event,
} from '#auto-api/h3'
import type { Method } from '../../shared/routes'
import type { ServerApi } from '../api/create'
import type { ApiRequest } from '../core/request/api-request'
import { isHttpError, methodNotAllowed } from '../core/error'
import { STATUS_TEXT } from '../../shared/error-codes'
import { allowedMethods, assertEnabled, type Route, type RoutesByMethod } from '../core/entries/route'
import { assertHeader } from '../core/request/header'
import { keepRunning, workBegins, workEnds } from '../core/process/in-flight'
import { wantsErrorsAs } from '../core/request/media-type'
import { findText, isLarge, type ApiResponse, type Tagged } from '../core/extensions/response'
import { discard, isStreamed, type StreamedBody } from './chunks'
import { isNoneMatch, tagBody, tagInTurns } from './etag'
import { createToHttpError, isApiError, logFailure } from './errors'
import { addCacheHeaders, withoutBody, type HeaderAccess } from './headers'
import { stringifyInTurns } from './json-in-turns'
import { PROBLEM_TYPE, toProblem } from './problem'
import {
  requireResource, toArrivingRequest, toCustomRequest, toGlobalRequest, toPluginRequest, toResourceRequest, type SetHeader, type ToRequest,
} from './request'
import { sendStream } from './stream'
import { unknownPath } from './unknown-path'
import { segmentsBelow, sentUrl } from './url'
import { useApi } from '../runtime'
import { idToPath } from '../schema/record-id'
import { headerOf } from './web-request'

/** The event of a request, from the h3 version that Nuxt uses. */
export type ApiEvent = H3Event

declare module '../registration' {
  interface AutoApiPlatform {
    event: H3Event
  }
}

/** A handler with a typed response body. Nitro derives the type of the route from it. */
export type TypedHandler<Body> = EventHandler<EventHandlerRequest, Promise<Body>>

/** The routes of a path by method. */
export type Methods = Readonly<Partial<Record<Method, Route>>>

const HEADERS = { get: getResponseHeader, set: setResponseHeader } satisfies HeaderAccess<H3Event>

/** Sets a header of the response. Keeps the cookies that are set already. Nitro's auto-imports have the name `setHeader`. */
const applyHeader: SetHeader<H3Event> = (event, name, value) => {
  if (name.toLowerCase() !== 'set-cookie') return setResponseHeader(event, name, value)
  // In h3 2, a list would become one cookie.
  const own = (event as { readonly res?: { readonly headers?: unknown } }).res?.headers
  if (own instanceof Headers) own.append(name, value)
  else setResponseHeader(event, name, [getResponseHeader(event, name) ?? [], value].flat().map(String))
}

const toHttpError = createToHttpError<H3Event>(createError, HEADERS)

/** Creates an event handler that returns its HTTP errors as problem details if the client asks for them. Nitro renders other errors. */
function defineApiHandler(run: (event: H3Event) => unknown): EventHandler {
  const fail = (event: H3Event, error: unknown) => {
    if (!isHttpError(error) || !wantsErrorsAs(headerOf(event, 'accept'), PROBLEM_TYPE)) throw error
    return respondWithProblem(event, error)
  }
  // Most clients do not name the type, and then h3 can have the promise as it is.
  return defineEventHandler(event =>
    NAMES_PROBLEM.test(headerOf(event, 'accept') ?? '') ? attempt(() => run(event), error => fail(event, error)) : run(event))
}

const NAMES_PROBLEM = /problem\+json/i

/** Nitro 2 adds the function to the event. */
interface Capturing {
  readonly captureError?: (error: Error, context: object) => void
}

function respondWithProblem(event: H3Event, error: Error): unknown {
  const problem = toProblem(error)
  // Nitro reports the errors that it renders to the `error` hooks of the app. A header of the client must not hide them.
  if (problem.status >= 500) (event as Capturing).captureError?.(error, { tags: ['request'] })
  setResponseStatus(event, problem.status, STATUS_TEXT[problem.status])
  setResponseHeader(event, 'content-type', PROBLEM_TYPE)
  const text = JSON.stringify(problem)
  return event.method === 'HEAD' ? withoutBody(event, HEADERS, text) : text
}

/** Creates the event handler of a generated path below a resource. */
export function defineRoutes(methods: Methods): EventHandler {
  return defineMethods(methods, toResourceRequest)
}

/** Creates the event handler of a path of the whole API, without a resource. */
export function defineGlobalRoutes(methods: Methods): EventHandler {
  return defineMethods(methods, toGlobalRequest)
}

/** Returns 405 with `Allow` for a method that the path does not have, before any other check. HEAD runs the GET without its body. */
function defineMethods(methods: Methods, toRequest: ToRequest<H3Event>): EventHandler {
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
      () => toRequest(event, api, applyHeader),
      request => runEnabled(request, api, route, methods),
      respondWithTag,
    )
  })
}

/** Returns the methods of a path, without methods that its resource has disabled. */
function allowedOn(event: H3Event, { mountPath, resources }: ServerApi, methods: Methods): readonly string[] {
  const [name] = segmentsBelow(mountPath, event, sentUrl(event))
  return allowedMethods(methods, resources.get(name ?? '')?.disabled)
}

function runEnabled(request: ApiRequest, api: ServerApi, route: Route, methods: RoutesByMethod): Promise<ApiResponse> {
  assertEnabled(methods, route, request, api)
  return route(request, api)
}

function respondToOptions(event: H3Event, allowed: readonly string[]): null {
  setResponseHeader(event, 'allow', allowed.join(', '))
  setResponseStatus(event, 204)
  addCacheHeaders(event, HEADERS)
  return null
}

/** Returns the app's own GET handler of this path (h3 1), or whether there is one (h3 2). The app then handles HEAD too. */
function findGetOfApp({ context }: H3Event, api: ServerApi): EventHandler | boolean {
  const { path, route = path, handlers } = (context.matchedRoute ?? {}) as MatchedRoute
  return handlers?.get ?? (route !== undefined && api.isAppRoute('GET', route))
}

/** The matched route, as the routers of h3 1 and h3 2 describe it. */
interface MatchedRoute {
  readonly path?: string
  readonly route?: string
  readonly handlers?: { readonly get?: EventHandler }
}

/** Creates the event handler of an endpoint of the app, with the caller and the errors of the API. */
export function defineCustomRoute(route: Route): EventHandler {
  return defineApiHandler((event) => {
    const api = requireApi(event)
    return handle(event, api, () => toCustomRequest(event, api, applyHeader), request => route(request, api))
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

function runPluginRoute(event: H3Event, api: ServerApi): unknown {
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
    () => toPluginRequest(event, api, applyHeader, resource, params),
    request => runEnabled(request, api, route, methods),
    respondWithRevision,
  )
}

/** Runs the listeners of every request below the prefix. */
function announce(event: H3Event, api: ServerApi): void {
  try {
    for (const listen of api.listeners.onArrival) listen(toArrivingRequest(event, api, applyHeader))
  }
  catch (error) {
    throw toHttpError(event, error)
  }
}

/** Creates the 404 of a path below the prefix that neither the API nor the app handles. */
export function toUnknownPathError(event: H3Event): Error {
  let api: ServerApi | undefined
  try {
    api = useApi(event)
  }
  catch { /* The path is unknown without the resources too. */ }
  return toHttpError(event, unknownPath(event, api))
}

/** @throws An HTTP error if the API cannot be created. */
function requireApi(event: H3Event): ServerApi {
  try {
    return useApi(event)
  }
  catch (error) {
    throw toHttpError(event, error)
  }
}

/** Sends a response whose status and headers are set. Returns the body for h3. */
type Send = (event: H3Event, api: ServerApi, response: ApiResponse) => unknown

async function handle(
  event: H3Event, api: ServerApi, toRequest: () => ApiRequest, run: (request: ApiRequest) => Promise<ApiResponse>, send: Send = sendPlain,
): Promise<unknown> {
  workBegins()
  try {
    const pending = api.whenReady()
    if (pending) await pending
    const request = toRequest()
    const response = await run(request)
    const { created } = response
    const isText = findText(response) !== undefined
    if (!isText && isStreamed(response.body)) return await respondWithStream(event, response, response.body)
    setHead(event, response, isText ? undefined : response.body)
    if (created !== undefined) {
      const collection = sentUrl(event).path.replace(/\/$/, '')
      setResponseHeader(event, 'location', `${collection}/${idToPath(requireResource(api, request.resource), created)}`)
    }
    const sent = send(event, api, response)
    return await sent
  }
  catch (error) {
    throw toHttpError(event, error)
  }
  finally {
    workEnds()
  }
}

function sendPlain(event: H3Event, _api: ServerApi, { body }: ApiResponse): unknown {
  return isLarge(body) ? stringifyInTurns(body).then(text => sendJson(event, text)) : sendBody(event, body)
}

function sendJson(event: H3Event, text: string): unknown {
  if (!getResponseHeader(event, 'content-type')) setResponseHeader(event, 'content-type', 'application/json')
  return sendBody(event, text)
}

function sendBody(event: H3Event, body: unknown): unknown {
  return event.method === 'HEAD' ? withoutBody(event, HEADERS, body) : body
}

/** Adds the entity tag to a write of a plugin whose response contains the record. */
function respondWithRevision(event: H3Event, api: ServerApi, response: ApiResponse): unknown {
  return response.revision === undefined ? sendPlain(event, api, response) : respondWithTag(event, api, response)
}

/** Adds the entity tag to a read, and to a write whose response contains the record. Returns 304 if the client has the same response. */
function respondWithTag(event: H3Event, api: ServerApi, response: ApiResponse): unknown {
  const isRead = event.method === 'GET' || event.method === 'HEAD'
  const hasTag = api.config.http.etag && (isRead ? response.status === 200 : response.revision !== undefined)
  if (!hasTag || getResponseHeader(event, 'etag')) return sendPlain(event, api, response)
  const text = findText(response)
  if (text) return sendTagged(event, text, isRead)
  const { body, revision } = response
  if (isLarge(body)) return tagInTurns(body, revision).then(tagged => sendTagged(event, tagged, isRead))
  const tagged = tagBody(response)
  return tagged ? sendTagged(event, tagged, isRead) : sendBody(event, body)
}

function sendTagged(event: H3Event, tagged: Tagged, isRead: boolean): unknown {
  setResponseHeader(event, 'etag', tagged.etag)
  if (isRead && isNoneMatch(headerOf(event, 'if-none-match'), tagged.etag)) {
    setResponseStatus(event, 304)
    return null
  }
  // The text is sent as it was hashed, so that it is made only once.
  return sendJson(event, tagged.text)
}

/**
 * Sets the status and the headers of a response.
 * @param body absent if the response is JSON text already, which needs no header of its own here
 */
function setHead(event: H3Event, response: ApiResponse, body?: unknown): void {
  const { status, headers } = response
  if (status !== 200) setResponseStatus(event, status)
  if (headers) {
    assertHeaders(headers)
    for (const name in headers) applyHeader(event, name, headers[name]!)
  }
  // h3 sends text as HTML. A handler that returns text of a client would then run scripts of that client.
  if (typeof body === 'string' && !getResponseHeader(event, 'content-type'))
    setResponseHeader(event, 'content-type', 'text/plain; charset=utf-8')
  addCacheHeaders(event, HEADERS, body)
}

/** Headers that cannot change, and that were checked for an earlier response. */
const checked = new WeakSet<object>()

function assertHeaders(headers: Readonly<Record<string, string>>): void {
  if (checked.has(headers)) return
  for (const [name, value] of Object.entries(headers)) assertHeader(name, value, 'A response')
  if (Object.isFrozen(headers)) checked.add(headers)
}

async function respondWithStream(event: H3Event, response: ApiResponse, body: StreamedBody): Promise<unknown> {
  const setStreamHead = () => {
    setHead(event, { ...response, headers: { ...response.headers, ...response.streamHeaders } }, response.body)
    if (!getResponseHeader(event, 'content-type')) setResponseHeader(event, 'content-type', 'application/octet-stream')
  }
  if (event.method !== 'HEAD') return sendStream(event, body, { setHead: setStreamHead, onError: error => logFailure(event, error) })
  discard(body)
  setStreamHead()
  return ''
}

/** Converts an event of custom code to a request. */
export function requestOf(event: H3Event): ApiRequest {
  return toCustomRequest(event, useApi(event), applyHeader)
}

/** Throws errors of the server utils as HTTP errors, so that a plain event handler also responds with their status and code. */
export async function withHttpErrors<T>(event: H3Event, run: () => Promise<T>): Promise<T> {
  try {
    return await keepRunning(run())
  }
  catch (error) {
    throw isApiError(error) ? toHttpError(event, error) : error
  }
}
