/** The way of every request. Routes say what they are made of; the order is decided here, once. */
import type { Operation } from '../../shared/operations'
import { openCall, type Api, type ApiRequest, type Call } from './context'
import { assertMay } from './gate'
import { answerAround } from './plugins'
import type { Answer } from './answer'
import { applyScope, type Plan, type Scoped } from './scope'
import { assertTenant } from './tenant'

export interface RouteSteps<Ask, P extends Plan, Result> {
  /** What the request does, then what else the caller must be allowed to do for it. */
  readonly operation: Operation | ((request: ApiRequest) => readonly [Operation, ...Operation[]])
  /** Further operations that the request counts as, for limits by operation. Their permissions are not asked here. */
  readonly countsAs?: (request: ApiRequest) => readonly Operation[]
  /** Text to values; reads the body of a write. */
  readonly parse: (request: ApiRequest, call: Call) => Ask | Promise<Ask>
  /** Names to columns. */
  readonly plan: (ask: Ask, call: Call) => P | Promise<P>
  readonly execute: (plan: Scoped<P>, call: Call) => Promise<Result>
  readonly respond: (result: Result, call: Call) => Answer
}

/** A route without a server around it. */
export type Route = (request: ApiRequest, api: Api) => Promise<Answer>

/**
 * WHO → MAY → (plugins around) → WHAT → HOW → WHOSE → DO → SAY. Nothing of the request is interpreted before the gate has let it in, and
 * nothing is executed that has no scope: `execute` takes nothing else.
 */
export function toRoute<Ask, P extends Plan, Result>(steps: RouteSteps<Ask, P, Result>): Route {
  return async (request, api) => {
    const resource = api.resources.get(request.resource)!
    const operations = typeof steps.operation === 'function' ? steps.operation(request) : [steps.operation] as const
    const call = await openCall(api, resource, steps.countsAs ? [...operations, ...steps.countsAs(request)] : operations, request)
    for (const operation of operations) await assertMay(call, resource, operation)
    assertTenant(call)
    return api.plugins.around.length === 0 ? run(steps, request, call) : answerAround(api.plugins, call.ctx, () => run(steps, request, call))
  }
}

async function run<Ask, P extends Plan, Result>(steps: RouteSteps<Ask, P, Result>, request: ApiRequest, call: Call): Promise<Answer> {
  const ask = await steps.parse(request, call)
  const plan = await steps.plan(ask, call)
  const scoped = await applyScope(call, plan)
  const result = await steps.execute(scoped, call)
  return steps.respond(result, call)
}
