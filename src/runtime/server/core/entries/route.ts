/** The generated routes: each is made of the same steps, and none runs without a row scope. */
import type { Operation } from '../../../shared/operations'
import type { RouteName } from '../../../shared/routes'
import { authorize } from '../access/authorize'
import { applyScope, type Plan, type Scoped } from '../access/row-scope'
import type { Api } from '../api'
import type { Awaitable } from '../awaitable'
import { methodNotAllowed } from '../error'
import { withHead, type ApiResponse } from '../extensions/response'
import { assertDryRun, dryRunHeaders } from '../parse/dry-run'
import { PARAMETERS } from '../parse/parameters'
import { handleRequest } from '../pipeline'
import { readsOf } from '../read/request-reads'
import { toRequestError } from '../read/rows/invalid-value'
import type { ApiRequest } from '../request/api-request'
import { isRead } from '../request/call'
import type { Call } from '../request/session'

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

/** Returns the `Allow` header of a path as a list. A method is left out if the resource disables all its operations. */
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
    return handleRequest(api, request, resource, {
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
