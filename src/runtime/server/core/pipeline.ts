/** The way of every request. Routes say what they are made of; the order is decided here, once. */
import type { Operation } from '../../shared/operations'
import { openCall, type Api, type ApiRequest, type Call } from './context'
import { methodNotAllowed } from './error'
import { toRequestError } from './execute/rows/invalid-value'
import { authorize } from './access/authorize'
import { runAround } from './listeners'
import type { ApiResponse } from './response'
import { applyScope, type Plan, type Scoped } from './access/row-scope'

export interface RouteSteps<Ask, P extends Plan, Result> {
  /** What the request does, then what else the caller must be allowed to do for it. */
  readonly operation: Operation | ((request: ApiRequest) => readonly [Operation, ...Operation[]])
  /** Where `operation` is a function: every operation that it may name first. A method whose operations are all disabled is not allowed. */
  readonly operations?: readonly Operation[]
  /** Further operations that the request counts as, for limits by operation. Their permissions are not asked here. */
  readonly countsAs?: (request: ApiRequest) => readonly Operation[]
  /** Text to values; reads the body of a write. */
  readonly parse: (request: ApiRequest, call: Call) => Ask | Promise<Ask>
  /** Names to columns. */
  readonly plan: (ask: Ask, call: Call) => P | Promise<P>
  readonly execute: (plan: Scoped<P>, call: Call) => Promise<Result>
  readonly respond: (result: Result, call: Call) => ApiResponse
}

/** A route without a server around it. */
export interface Route {
  (request: ApiRequest, api: Api): Promise<ApiResponse>
  /** The operation that a request asks for; absent on a route that has none. */
  readonly operationOf?: (request: ApiRequest) => Operation
  /** The operations it may be asked for, where they are known beforehand. */
  readonly operations?: readonly Operation[]
}

/** What a path answers, by method. */
export type RoutesByMethod = Readonly<Partial<Record<string, Route>>>

/** What `Allow` lists: the methods of a path, without those whose operations the resource has disabled. HEAD goes with GET. */
export function allowedMethods(routes: RoutesByMethod, disabled: ReadonlySet<Operation> | undefined): readonly string[] {
  const left = Object.entries(routes).filter(
    ([, route]) => !(disabled?.size && route?.operations?.every(operation => disabled.has(operation))),
  )
  return [...left.flatMap(([method]) => method === 'GET' ? ['GET', 'HEAD'] : [method]), 'OPTIONS']
}

/** A disabled operation is refused before anything else is looked at. @throws 405 with the methods that remain */
export function assertEnabled(routes: RoutesByMethod, route: Route, request: ApiRequest, { resources }: Api): void {
  const disabled = resources.get(request.resource)?.disabled
  if (!disabled?.size || !route.operationOf || !disabled.has(route.operationOf(request))) return
  throw methodNotAllowed(allowedMethods(routes, disabled))
}

/**
 * WHO → MAY → (plugins around) → WHAT → HOW → WHOSE → DO → SAY. Nothing of the request is interpreted before the gate has let it in, and
 * nothing is executed that has no scope: `execute` takes nothing else.
 */
export function toRoute<Ask, P extends Plan, Result>(steps: RouteSteps<Ask, P, Result>): Route {
  const operationsOf = (request: ApiRequest) =>
    typeof steps.operation === 'function' ? steps.operation(request) : ([steps.operation] as const)
  const operations = typeof steps.operation === 'string' ? [steps.operation] : steps.operations
  return Object.assign(async (request: ApiRequest, api: Api) => {
    const resource = api.resources.get(request.resource)!
    const operations = operationsOf(request)
    const call = await openCall(api, resource, steps.countsAs ? [...operations, ...steps.countsAs(request)] : operations, request)
    await authorize(call, resource, operations)
    return api.plugins.around.length === 0 ? run(steps, request, call) : runAround(api.plugins, call.ctx, () => run(steps, request, call))
  }, { operationOf: (request: ApiRequest) => operationsOf(request)[0], ...operations && { operations } })
}

async function run<Ask, P extends Plan, Result>(steps: RouteSteps<Ask, P, Result>, request: ApiRequest, call: Call): Promise<ApiResponse> {
  const ask = await steps.parse(request, call)
  const plan = await steps.plan(ask, call)
  const scoped = await applyScope(call, plan)
  try {
    return steps.respond(await steps.execute(scoped, call), call)
  }
  catch (error) {
    throw await toRequestError(error, scoped, call)
  }
}
