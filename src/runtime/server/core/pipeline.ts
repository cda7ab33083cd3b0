/** The pipeline of every request: opens the session, authorizes the caller, then runs the entry inside the `around` of plugins. */
import type { Operation } from '../../shared/operations'
import type { Resource } from '../schema/model'
import type { Api } from './api'
import { andThen, type Awaitable } from './awaitable'
import { unauthenticated } from './error'
import { runAround, runOnResponse, type Listeners } from './extensions/listeners'
import { findText, markLarge, type ApiResponse } from './extensions/response'
import { assertParameters } from './parse/parameters'
import { serverTiming } from './process/server-timing'
import { jsonSize, responseTooLarge } from './process/size'
import { isWatched, traceRequest } from './process/trace'
import type { ApiRequest } from './request/api-request'
import { forResource } from './request/call'
import { openSession } from './request/open-session'
import { canWrite } from './request/prefer'
import { isMarked, withMarker } from './request/replica-choice'
import type { Call, Session } from './request/session'

/** One entry point of the API: authorizes the caller, then runs. */
export interface Entry<S extends Session> {
  /** All operations of the request. The first one becomes `ctx.operation`. */
  readonly operations: readonly [Operation, ...Operation[]]
  /** @throws 401, 403 */
  readonly authorize: (session: S) => Awaitable<void>
  /** The name of the route for `around` of plugins. Without a name, `around` does not apply. */
  readonly name?: string
  /** Whether an endpoint, or a route of a plugin, supports `Idempotency-Key`. */
  readonly idempotent?: boolean
  /** Whether the request only reads. Then its rows can come from a replica. */
  readonly isReadOnly?: boolean
  /** Reads the body for `around` of plugins. @default as JSON */
  readonly body?: () => Promise<unknown>
  /** The parameters of the query string. If it is absent, or returns `undefined`, the entry knows every parameter. */
  readonly parameters?: () => readonly string[] | undefined
  readonly run: (session: S) => Promise<ApiResponse>
}

/**
 * Handles a request: `openSession` → `authorize` of the entry → `around` of plugins → `run` of the entry → `onResponse` of plugins.
 * The API does not interpret the request before the caller is authorized.
 */
export function handleRequest(api: Api, request: ApiRequest, resource: Resource, entry: Entry<Call>): Promise<ApiResponse>
export function handleRequest(api: Api, request: ApiRequest, resource: undefined, entry: Entry<Session>): Promise<ApiResponse>
export function handleRequest(api: Api, request: ApiRequest, resource: Resource | undefined, given: Entry<Call>): Promise<ApiResponse> {
  const entry = bounded(api, request, checked(api, request, given))
  const run = () => openAndRun(api, request, resource, entry)
  return api.config.http.serverTiming || isWatched() ? runTraced(api, request, resource, entry, run) : run()
}

function runTraced(
  { config }: Api, request: ApiRequest, resource: Resource | undefined, { operations, name }: Entry<Call>, run: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const message = {
    resource: resource?.name ?? '', operation: operations[0], method: request.method, ...name !== undefined && { route: name },
  }
  return traceRequest(message, run, (traced, response) => {
    if (response) traced.status = response.status ?? 200
    if (config.http.serverTiming) request.setHeader('server-timing', serverTiming(traced))
  })
}

function openAndRun(api: Api, request: ApiRequest, resource: Resource | undefined, entry: Entry<Call>): Promise<ApiResponse> {
  try {
    return andThen(openSession(api, request, resource?.name ?? '', entry.operations, entry.isReadOnly), (session) => {
      // Without a resource, the overloads accept only an `Entry<Session>`, which cannot read `call.resource`. So the cast is safe.
      const call = resource ? forResource(session, resource, session.ctx) : session as Call
      const run = () => withPlugins(api, request, call, entry)
      return isMarked(api, request) ? withMarker(api, request, session, run) : run()
    })
  }
  catch (error) {
    return Promise.reject(error as Error)
  }
}

function withPlugins({ listeners }: Api, request: ApiRequest, call: Call, entry: Entry<Call>): Promise<ApiResponse> {
  const { name } = entry
  return name === undefined || (listeners.around.length === 0 && listeners.onResponse.length === 0)
    ? authorizeAndRun(call, entry)
    : runInside(listeners, request, call, entry, name)
}

async function runInside(listeners: Listeners, request: ApiRequest, call: Call, entry: Entry<Call>, route: string): Promise<ApiResponse> {
  const { idempotent = false, body = () => request.body() } = entry
  const info = Object.freeze({ route, idempotent, request: { header: request.header, body } })
  await entry.authorize(call)
  const running = runAround(listeners, call.ctx, info, () => entry.run(call))
  const response = await running
  return listeners.onResponse.length > 0 ? runOnResponse(listeners, call.ctx, info, response) : response
}

/** Runs an entry in a session that is already open. @throws At once if the caller is refused without code of the app. */
export function authorizeAndRun<S extends Session, Result>(
  session: S,
  { authorize, run }: { readonly authorize: (session: S) => Awaitable<void>, readonly run: (session: S) => Promise<Result> },
): Promise<Result> {
  return andThen(authorize(session), () => run(session))
}

/** Checks the parameters when the caller is authorized. */
function checked({ config }: Api, request: ApiRequest, entry: Entry<Call>): Entry<Call> {
  if (config.http.strictParameters === false) return entry
  return {
    ...entry,
    run: async (call) => {
      const known = entry.parameters?.()
      if (known) assertParameters(known, request, config)
      return entry.run(call)
    },
  }
}

/** A write is done when its size is known, so its response can only leave values out: see `respond.ts`. */
const bounded = (api: Api, request: ApiRequest, entry: Entry<Call>): Entry<Call> =>
  canWrite(request) ? entry : { ...entry, run: call => entry.run(call).then(response => assertSize(response, api)) }

/** @throws `LIMIT_EXCEEDED` for a JSON body that is too large, before any text is made of it. */
function assertSize(response: ApiResponse, { config: { http } }: Api): ApiResponse {
  const max = http.maxResponseSize
  const text = findText(response)?.text
  const size = text === undefined ? jsonSize(response.body, max) : text.length
  if (size > max) throw responseTooLarge(max)
  if (size > LARGE && text === undefined && typeof response.body === 'object') markLarge(response.body!)
  return response
}

/** Other requests can run while the text of a larger body is made. */
const LARGE = 256 * 1024

/** Lets every caller pass. The entry itself must return only data that the caller can access. */
export function allowEveryone(): void {}

/** @throws 401 for an anonymous caller. */
export function assertSignedIn({ ctx }: Session): void {
  if (ctx.user === null) throw unauthenticated()
}
