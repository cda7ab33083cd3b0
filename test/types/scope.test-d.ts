/** A plan without a scope cannot be executed, and only `row-scope.ts` can add one. */
import { describe, expectTypeOf, test } from 'vitest'
import type { Call } from '../../src/runtime/server/core/request/session'
import { executeGroups } from '../../src/runtime/server/core/read/aggregate/groups'
import { executeGet } from '../../src/runtime/server/core/read/get'
import { executeList } from '../../src/runtime/server/core/read/list'
import { executeWrite } from '../../src/runtime/server/core/write/run'
import type { RouteSteps } from '../../src/runtime/server/core/entries/route'
import type { GroupPlan } from '../../src/runtime/server/core/plan/aggregate'
import type { ListPlan } from '../../src/runtime/server/core/plan/read'
import type { LinkPlan, LinkTarget, RelatedPlan } from '../../src/runtime/server/core/plan/relation'
import type { WritePlan } from '../../src/runtime/server/core/plan/write'
import { applyScope, type Plan, type Scoped } from '../../src/runtime/server/core/access/row-scope'

type GetPlan = Parameters<typeof executeGet>[0] extends Scoped<infer P> ? P : never

declare const call: Call
declare const list: ListPlan
declare const get: GetPlan
declare const write: WritePlan
declare const groups: GroupPlan

describe('a plan without a scope', () => {
  test('cannot be read', () => {
    // @ts-expect-error -- not scoped
    void executeList(list, call)
    // @ts-expect-error -- not scoped
    void executeGet(get, call)
  })

  test('cannot be aggregated', () => {
    // @ts-expect-error -- not scoped
    void executeGroups(groups, call)
  })

  test('cannot be written', () => {
    // @ts-expect-error -- not scoped
    void executeWrite(write, call)
  })

  test('cannot get one by having its members', () => {
    // @ts-expect-error -- the symbol of a scope is not exported
    void executeList({ ...list, scope: [], include: [], accepts: undefined }, call)
    // @ts-expect-error -- the symbol of a scope is not exported
    void executeWrite({ ...write, scope: [], include: [], accepts: undefined }, call)
    // @ts-expect-error -- the symbol of a scope is not exported
    const scoped: Scoped<WritePlan> = { ...write, scope: [], include: [] }
    void scoped
  })

  test('cannot get one by another symbol', () => {
    const scoped: unique symbol = Symbol('scoped')
    // @ts-expect-error -- another symbol
    void executeWrite({ ...write, scope: [], include: [], [scoped]: true }, call)
  })
})

describe('a scope', () => {
  test('is made by applyScope and keeps the kind of plan', async () => {
    void executeList(await applyScope(call, list), call)
    void executeWrite(await applyScope(call, write), call)
    // @ts-expect-error -- a scoped write is not a scoped list
    void executeList(await applyScope(call, write), call)
  })

  test('keeps the tuple of an include, and the further members of each entry', () => {
    expectTypeOf<Scoped<RelatedPlan>['include'][0]['plan']>().toEqualTypeOf<Scoped<ListPlan>>()
    expectTypeOf<Scoped<RelatedPlan>['include']['length']>().toEqualTypeOf<1>()
    expectTypeOf<Scoped<LinkPlan>['include'][number]['ids']>().toEqualTypeOf<LinkTarget['ids']>()
    expectTypeOf<Scoped<LinkPlan>['include'][number]['through']>().toEqualTypeOf<Scoped<Plan>>()
  })

  test('has a symbol that cannot be imported', async () => {
    // @ts-expect-error -- not exported
    type Mark = typeof import('../../src/runtime/server/core/access/row-scope').scoped
    expectTypeOf<Mark>().toBeAny()
  })
})

describe('a route', () => {
  test('passes a scoped plan to its execute step', () => {
    expectTypeOf<Parameters<RouteSteps<unknown, WritePlan, unknown>['execute']>[0]>().toEqualTypeOf<Scoped<WritePlan>>()
  })

  test('requires the operation that it authorizes', () => {
    const steps = {
      name: 'update' as const,
      parse: () => 1,
      plan: () => write,
      execute: executeWrite,
      respond: () => ({ status: 200, body: {} }),
    }
    // @ts-expect-error -- no operation
    const route: RouteSteps<number, WritePlan, Awaited<ReturnType<typeof executeWrite>>> = steps
    void route
  })
})
