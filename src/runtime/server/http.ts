/** The door to the street: event → request, answer → response, error → h3 error. The only file that knows h3. */
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
import type { Method } from '../shared/routes'
import { readBody } from './http/body'
import { findPluginRoute, isAppRoute, useApi, whenReady } from './runtime'
import type { ApiRequest } from './core/context'
import { assertSameSite } from './core/access/csrf'
import { ApiError, busy, invalidBody, isHttpError, methodNotAllowed, notFound, STATUS_TEXT, unsupportedMediaType } from './core/error'
import { describeError, printable } from './core/log'
import { decode, idToPath, idFromPath } from './schema/record-id'
import { allowedMethods, assertEnabled, type Route, type RoutesByMethod } from './core/pipeline'
import type { ApiResponse } from './core/response'
import { getDatabase, getEngine } from './database'
import { withCause, withoutStack } from './http/development'
import { BusyError } from './engines/engine'
import type { AutoApiUser } from './registration'
import { addCacheHeaders, keepCacheControl, withoutBody, type HeaderAccess } from './http/headers'
import { clientAddressOf } from './client-address'

/** The event of a request: h3's, of the version that Nuxt brings. */
export type ApiEvent = H3Event

declare module './registration' {
  interface AutoApiPlatform {
    event: H3Event
  }
}

/** A handler whose answer is known: Nitro types its route by it. */
export type AnsweringHandler<Answer> = EventHandler<EventHandlerRequest, Promise<Answer>>

/** What a path answers to each method that it has. */
export type Methods = Readonly<Partial<Record<Method, Route>>>

const HEADERS: HeaderAccess<H3Event> = { get: getResponseHeader, set: setResponseHeader }

/** A generated path below a resource, as event handler. */
export function defineRoutes(methods: Methods): EventHandler {
  return defineMethods(methods, toRequest)
}

/** A path of the whole API, which belongs to no resource. */
export function defineGlobalRoutes(methods: Methods): EventHandler {
  return defineMethods(methods, toGlobalRequest)
}

/** A method that a path does not have is a 405 with `Allow`, whatever else is wrong with the request. HEAD is a GET without its body. */
function defineMethods(methods: Methods, read: (event: H3Event) => ApiRequest): EventHandler {
  const routes = new Map<string, Route>(Object.entries(methods))
  const ofHead = routes.get('GET')
  if (ofHead) routes.set('HEAD', ofHead)
  return defineEventHandler((event) => {
    if (event.method === 'OPTIONS') return answerOptions(event, allowedOn(event, methods))
    const ofApp = event.method === 'HEAD' ? findGetOfApp(event) : undefined
    if (typeof ofApp === 'function') return ofApp(event)
    const route = ofApp ? undefined : routes.get(event.method)
    if (!route) throw toHttpError(event, methodNotAllowed(allowedOn(event, methods).filter(method => !ofApp || method !== 'HEAD')))
    return answerTo(event, () => read(event), request => respondTo(request, route, methods))
  })
}

/** The methods of a path that are left for the resource it belongs to. */
function allowedOn(event: H3Event, methods: Methods): readonly string[] {
  const [name] = segments(event, sentUrl(event))
  return allowedMethods(methods, useApi().resources.get(name ?? '')?.disabled)
}

function respondTo(request: ApiRequest, route: Route, methods: RoutesByMethod): Promise<ApiResponse> {
  const api = useApi()
  assertEnabled(methods, route, request, api)
  return route(request, api)
}

function answerOptions(event: H3Event, allowed: readonly string[]): null {
  setResponseHeader(event, 'allow', allowed.join(', '))
  setResponseStatus(event, 204)
  addCacheHeaders(event, HEADERS)
  return null
}

/** Whether GET of this path is the app's own: then HEAD is not ours either. The router of h3 1 knows the handler. */
function findGetOfApp({ context }: H3Event): EventHandler | boolean {
  const { path, route = path, handlers } = (context.matchedRoute ?? {}) as MatchedRoute
  return handlers?.get ?? (route !== undefined && isAppRoute('GET', route))
}

/** What the routers of both versions say of the route they found. */
interface MatchedRoute {
  readonly path?: string
  readonly route?: string
  readonly handlers?: { readonly get?: EventHandler }
}

/** An app's own endpoint: on a path of its own, with the caller and the errors of the API. */
export function defineCustomRoute(route: Route): EventHandler {
  return defineAnswer(toCustomRequest, request => route(request, useApi()))
}

function defineAnswer(read: (event: H3Event) => ApiRequest, respond: (request: ApiRequest) => Promise<ApiResponse>): EventHandler {
  return defineEventHandler(event => answerTo(event, () => read(event), respond))
}

async function answerTo(event: H3Event, read: () => ApiRequest, respond: (request: ApiRequest) => Promise<ApiResponse>): Promise<unknown> {
  try {
    const pending = whenReady()
    if (pending) await pending
    const request = read()
    assertSameSite(request, useApi().config)
    const { status, body, created, headers } = await respond(request)
    if (status !== 200) setResponseStatus(event, status)
    if (headers) for (const [name, value] of Object.entries(headers)) setResponseHeader(event, name, value)
    if (created !== undefined)
      setResponseHeader(event, 'location', `${sentUrl(event).path.replace(/\/$/, '')}/${idToPath(resourceOf(request.resource), created)}`)
    addCacheHeaders(event, HEADERS, body)
    return event.method === 'HEAD' ? withoutBody(event, HEADERS, body) : body
  }
  catch (error) {
    throw toHttpError(event, error)
  }
}

/** Answers the routes of plugins before the router is asked, and passes on every other request. */
export function definePluginRoutes(): EventHandler {
  return defineEventHandler(async (event) => {
    if (!event.path.startsWith(`${useApi().config.prefix}/`)) return
    await whenReady()?.catch((error: unknown) => {
      throw toHttpError(event, error)
    })
    const url = sentUrl(event)
    const path = segments(event, url)
    // An encoded slash would make two segments of one.
    const found = path[0]?.includes('/') ? undefined : findPluginRoute(event.method, `/${path.join('/')}`)
    if (!found) return
    const { resource: name, params, answer, methods } = found
    const resource = name === undefined ? undefined : resourceOf(name)
    const allowed = allowedMethods(methods, resource?.disabled)
    if (event.method === 'OPTIONS') return answerOptions(event, allowed)
    if (!answer) throw toHttpError(event, methodNotAllowed(allowed))
    const decoded = Object.entries(params).map(([name, text]) => [
      name,
      name === 'id' && resource ? idFromPath(resource, text) : decode(text),
    ])
    return answerTo(
      event,
      () => ({ ...fromEvent(event, url), resource: name ?? '', params: Object.fromEntries(decoded) as ApiRequest['params'] }),
      request => respondTo(request, answer, methods),
    )
  })
}

/** @throws 404 where the router read an encoded `?` as the end of the path and so came to a resource that was not asked for. */
function resourceOf(name: string | undefined) {
  const resource = useApi().resources.get(name ?? '')
  if (!resource) throw notFound()
  return resource
}

function toRequest(event: H3Event): ApiRequest {
  const url = sentUrl(event)
  const [name, id, , relation] = segments(event, url)
  const resource = resourceOf(name)
  return {
    ...fromEvent(event, url),
    resource: resource.name,
    params: { ...id !== undefined && { id: idFromPath(resource, id) }, ...relation !== undefined && { relation: decode(relation) } },
  }
}

function toGlobalRequest(event: H3Event): ApiRequest {
  const url = sentUrl(event)
  const last = segments(event, url).at(-1)
  return { ...fromEvent(event, url), params: last === undefined ? {} : { last: decode(last) } }
}

/** The parameters are those of the app's own path, decoded. */
function toCustomRequest(event: H3Event): ApiRequest {
  const params = Object.entries(event.context.params ?? {}).map(([name, value]) => [name, decode(value)])
  return { ...fromEvent(event, sentUrl(event)), params: Object.fromEntries(params) as ApiRequest['params'] }
}

/** What custom code passes on as an event. */
export function requestOf(event: H3Event): ApiRequest {
  return toCustomRequest(event)
}

function fromEvent(event: H3Event, url: SentUrl): ApiRequest {
  const { user, permissions, tenantId } = event.context
  return {
    resource: '',
    method: event.method,
    params: {},
    query: toQuery(url.query),
    header: name => event.headers.get(name) ?? undefined,
    address: () => clientAddressOf(event, useApi().config.trustProxy),
    setHeader: (name, value) => {
      setResponseHeader(event, name, value)
    },
    body: () => readJson(event),
    event,
    caller: { user: (user ?? null) as AutoApiUser | null, permissions, tenantId },
    engine: getEngine(event),
    db: getDatabase(event),
  }
}

interface SentUrl {
  readonly path: string
  /** With its `?`; empty without one. */
  readonly query: string
}

/**
 * The URL as the client sent it, the app's base URL included. `event.path` is no substitute: h3 decodes it, and an id
 * that holds an encoded `?` would turn into a query, one that holds an encoded `,` into a composite key.
 */
function sentUrl(event: H3Event): SentUrl {
  const { node, req } = event as { node?: { req?: { originalUrl?: string } }, req?: { url?: string } }
  const url = node?.req?.originalUrl ?? req?.url?.replace(/^[a-z]+:\/\/[^/?]*/i, '') ?? event.path
  const start = url.indexOf('?')
  return start === -1 ? { path: url, query: '' } : { path: url.slice(0, start), query: url.slice(start) }
}

/** The path below the prefix: the resource's name, then what follows, still encoded. */
function segments(event: H3Event, { path, query }: SentUrl): string[] {
  // Base URL and prefix may be spelled in any encoding; how many segments follow them is the same in both paths.
  const decoded = event.path.slice(useApi().config.prefix.length, event.path.length - query.length)
  const depth = split(decoded).length
  const [resource, ...rest] = depth === 0 ? [] : split(path).slice(-depth)
  return resource === undefined ? [] : [decode(resource) ?? resource, ...rest]
}

const split = (path: string) => path.split('/').filter(segment => segment !== '')

function toQuery(text: string): ApiRequest['query'] {
  const query: Record<string, string | string[]> = Object.create(null)
  if (text === '') return query
  for (const [name, value] of new URLSearchParams(text)) {
    const known = query[name]
    query[name] = known === undefined ? value : Array.isArray(known) ? [...known, value] : [known, value]
  }
  return query
}

async function readJson(event: H3Event): Promise<unknown> {
  const type = event.headers.get('content-type')?.split(';', 1)[0]!.trim().toLowerCase()
  if (type !== 'application/json') throw unsupportedMediaType()
  const text = await readBody(event, useApi().config.http.maxBodySize)
  try {
    return JSON.parse(text ?? '')
  }
  catch {
    throw invalidBody('The body is not valid JSON.')
  }
}

/** Refusals of the server utils as Nuxt knows them: a plain event handler, too, answers their status and code. */
export async function withHttpErrors<T>(event: H3Event, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  }
  catch (error) {
    throw error instanceof ApiError || error instanceof BusyError ? toHttpError(event, error) : error
  }
}

/** A refusal is told as it is, an app's own error passes, anything else is a 500 whose cause only the log knows. */
function toHttpError(event: H3Event, error: unknown): Error {
  if (error instanceof BusyError) return toHttpError(event, busy())
  addCacheHeaders(event, HEADERS)
  if (statusOf(error) === 404) keepCacheControl(event)
  if (error instanceof ApiError) {
    for (const [name, value] of Object.entries(error.headers)) setResponseHeader(event, name, value)
    return withoutStack(
      createError({
        status: error.status,
        statusText: STATUS_TEXT[error.status],
        message: error.message,
        data: withCause(error.data, error.cause),
      }),
    )
  }
  if (isHttpError(error)) return isRefusal(error) ? withoutStack(error) : error
  console.error('[auto-api]', printable(event.method), printable(sentUrl(event).path), describeError(error))
  return createError({
    status: 500,
    statusText: 'Internal Server Error',
    message: 'Something went wrong.',
    data: withCause(undefined, error),
  })
}

/** An app's own 4xx. */
function isRefusal(error: object): boolean {
  const status = statusOf(error)
  return status !== undefined && status < 500
}

function statusOf(error: unknown): number | undefined {
  return (error as { status?: number } | null)?.status ?? (error as { statusCode?: number } | null)?.statusCode
}
