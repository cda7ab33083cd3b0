/** The pipeline of every request: opens the session, authorizes the caller, then runs the entry inside the `around` of plugins. */
import { andThen, type Awaitable } from './awaitable'
import type { Operation } from '../../shared/operations'
import type { RouteName } from '../../shared/routes'
import type { Resource } from '../schema/model'
import type { Api } from './api'
import { assertDryRun, dryRunHeaders } from './parse/dry-run'
import type { ApiRequest } from './request/api-request'
import { forResource, isRead } from './request/call'
import type { Call, Session } from './request/session'
import { methodNotAllowed, unauthenticated } from './error'
import { toRequestError } from './read/rows/invalid-value'
import { authorize } from './access/authorize'
import { runAround, runOnResponse } from './extensions/listeners'
import { openSession } from './request/open-session'
import { assertParameters, PARAMETERS } from './parse/parameters'
import { readsOf } from './read/reads'
import { isMarked, withMarker } from './request/read-source'
import { canWrite } from './request/prefer'
import { findText, markLarge, withHead, type ApiResponse } from './extensions/response'
import { applyScope, type Plan, type Scoped } from './access/row-scope'
import { jsonSize, responseTooLarge } from './process/size'

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

/** Runs an entry on one resource or on the whole API. The API does not interpret the request before the caller is authorized. */
export function runRoute(api: Api, request: ApiRequest, resource: Resource, entry: Entry<Call>): Promise<ApiResponse>
export function runRoute(api: Api, request: ApiRequest, resource: undefined, entry: Entry<Session>): Promise<ApiResponse>
export function runRoute(api: Api, request: ApiRequest, resource: Resource | undefined, given: Entry<Call>): Promise<ApiResponse> {
  const entry = api.config.http.strictParameters === false ? given : withParameters(given, request)
  try {
    const opening = openSession(api, request, resource?.name ?? '', entry.operations, entry.isReadOnly)
    return andThen(opening, session => runInSession(api, request, session, resource, entry))
  }
  catch (error) {
    return Promise.reject(error as Error)
  }
}

/** Checks the parameters when the caller is authorized. */
function withParameters(entry: Entry<Call>, request: ApiRequest): Entry<Call> {
  return {
    ...entry,
    run: async (call) => {
      const known = entry.parameters?.()
      if (known) assertParameters(known, request, call.api.config)
      return entry.run(call)
    },
  }
}

function runInSession(
  api: Api, request: ApiRequest, session: Session, resource: Resource | undefined, entry: Entry<Call>,
): Promise<ApiResponse> {
  // Without a resource, the overloads accept only an `Entry<Session>`, which cannot read `call.resource`. So the cast is safe.
  const call = resource ? forResource(session, resource, session.ctx) : session as Call
  return isMarked(api, request)
    ? withMarker(api, request, session, () => runInside(api, request, call, entry))
    : runInside(api, request, call, entry)
}

/** Runs the entry, inside the `around` of plugins if there are any. */
function runInside(api: Api, request: ApiRequest, call: Call, entry: Entry<Call>): Promise<ApiResponse> {
  const { around, onResponse } = api.listeners
  // A write is done when its size is known, so its response can only leave values out: see `respond.ts`.
  const own = canWrite(request) ? entry : { ...entry, run: (call: Call) => entry.run(call).then(response => bounded(response, api)) }
  return own.name === undefined || (around.length === 0 && onResponse.length === 0)
    ? runEntry(call, own)
    : runWithPlugins(api, request, call, own, own.name)
}

/** @throws `LIMIT_EXCEEDED` for a JSON body that is too large, before any text is made of it. */
function bounded(response: ApiResponse, { config: { http } }: Api): ApiResponse {
  const max = http.maxResponseSize
  const text = findText(response)?.text
  const size = text === undefined ? jsonSize(response.body, max) : text.length
  if (size > max) throw responseTooLarge(max)
  if (size > LARGE && text === undefined && typeof response.body === 'object') markLarge(response.body!)
  return response
}

/** Other requests can run while the text of a larger body is made. */
const LARGE = 256 * 1024

async function runWithPlugins(api: Api, request: ApiRequest, call: Call, entry: Entry<Call>, name: string): Promise<ApiResponse> {
  const { listeners } = api
  const { idempotent = false, body = () => request.body() } = entry
  const info = Object.freeze({ route: name, idempotent, request: { header: request.header, body } })
  await entry.authorize(call)
  const running = runAround(listeners, call.ctx, info, () => entry.run(call))
  const response = await running
  return listeners.onResponse.length > 0 ? runOnResponse(listeners, call.ctx, info, response) : response
}

/** Runs an entry in a session that is already open. @throws At once if the caller is refused without code of the app. */
export function runEntry<S extends Session, Result>(
  session: S,
  { authorize, run }: { readonly authorize: (session: S) => Awaitable<void>, readonly run: (session: S) => Promise<Result> },
): Promise<Result> {
  return andThen(authorize(session), () => run(session))
}

/** Lets every caller pass. The entry itself must return only data that the caller can access. */
export function allowEveryone(): void {}

/** @throws 401 for an anonymous caller. */
export function assertSignedIn({ ctx }: Session): void {
  if (ctx.user === null) throw unauthenticated()
}

export interface RouteSteps<Query, P extends Plan, Result> {
  readonly name: RouteName
  /** The operation of the request, then further operations for which the caller needs permission. */
  readonly operation: Operation | ((request: ApiRequest) => readonly [Operation, ...Operation[]])
  /**
   * If `operation` is a function, this list contains every operation that can be the first one it returns.
   * If the resource disables all of these operations, the method is not allowed.
   */
  readonly operations?: readonly Operation[]
  /** Further operations that the request counts as, for limits by operation. Their permissions are not required here. */
  readonly countsAs?: (request: ApiRequest) => readonly Operation[]
  /** Converts text to values; reads the body of a write. */
  readonly parse: (request: ApiRequest, call: Call) => Awaitable<Query>
  /** Resolves names to columns. */
  readonly plan: (query: Query, call: Call) => Awaitable<P>
  readonly execute: (plan: Scoped<P>, call: Call) => Awaitable<Result>
  readonly respond: (result: Result, call: Call) => ApiResponse
}

/** A route, independent of the HTTP server. */
export interface Route {
  (request: ApiRequest, api: Api): Promise<ApiResponse>
  /** Returns the operation of a request. It is absent if the route has no operation. */
  readonly operationOf?: (request: ApiRequest) => Operation
  /** The operations that a request can have, if they are known before the request. */
  readonly operations?: readonly Operation[]
  /** Whether the permission for one of the operations is enough. @default false */
  readonly anyOf?: boolean
}

/** The routes of a path by method. */
export type RoutesByMethod = Readonly<Partial<Record<string, Route>>>

/** The methods in the `Allow` header of a path, without methods whose operations the resource disables. GET includes HEAD. */
export function allowedMethods(routes: RoutesByMethod, disabled: ReadonlySet<Operation> | undefined): readonly string[] {
  const enabled = Object.entries(routes).filter(
    ([, route]) => !(disabled?.size && route?.operations?.every(operation => disabled.has(operation))),
  )
  return [...enabled.flatMap(([method]) => method === 'GET' ? ['GET', 'HEAD'] : [method]), 'OPTIONS']
}

/** Refuses a disabled operation before anything else is checked. @throws 405 with the allowed methods */
export function assertEnabled(routes: RoutesByMethod, route: Route, request: ApiRequest, { resources }: Api): void {
  const disabled = resources.get(request.resource)?.disabled
  if (!disabled?.size || !route.operationOf) return
  const sufficient = route.anyOf && route.operations ? route.operations : [route.operationOf(request)]
  if (!sufficient.every(operation => disabled.has(operation))) return
  throw methodNotAllowed(allowedMethods(routes, disabled))
}

/** Creates a route from its steps. `execute` accepts only a `Scoped` plan, so no plan runs without a row scope. */
export function toRoute<Query, P extends Plan, Result>(steps: RouteSteps<Query, P, Result>): Route {
  const { operation } = steps
  const only = typeof operation === 'string' ? Object.freeze([operation] as const) : undefined
  const operationsOf = typeof operation === 'function' ? operation : () => only!
  const operations = only ?? steps.operations
  return Object.assign((request: ApiRequest, api: Api) => {
    const resource = api.resources.get(request.resource)!
    const required = operationsOf(request)
    return runRoute(api, request, resource, {
      operations: steps.countsAs ? [...required, ...steps.countsAs(request)] : required,
      authorize: call => authorize(call, resource, required),
      name: steps.name,
      parameters: () => PARAMETERS[steps.name],
      isReadOnly: required.every(isReading),
      run: call => runSteps(steps, request, call),
    })
  }, { operationOf: (request: ApiRequest) => operationsOf(request)[0], ...operations && { operations } })
}

async function runSteps<Query, P extends Plan, Result>(
  steps: RouteSteps<Query, P, Result>, request: ApiRequest, call: Call,
): Promise<ApiResponse> {
  assertDryRun(request)
  const parsed = steps.parse(request, call)
  const planned = steps.plan(await parsed, call)
  const scoping = applyScope(call, await planned)
  const scoped = await scoping
  try {
    const executed = steps.execute(scoped, call)
    const response = steps.respond(await executed, call)
    const { api, ctx } = call
    if (ctx.dryRun) return { ...response, headers: { ...response.headers, ...dryRunHeaders(request) } }
    return isRead(ctx.operation) && api.listeners.around.length > 0 ? withHead(response, { reads: readsOf(scoped, call) }) : response
  }
  catch (error) {
    throw await toRequestError(error, scoped, call)
  }
}

/** A list of the trash only reads too. */
const isReading = (operation: Operation) => isRead(operation) || operation === 'viewDeleted'
