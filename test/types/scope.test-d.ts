/** Safety by type: what has no scope is not executed, and only `scope.ts` makes one. Each expected error is the guard. */
import { describe, expectTypeOf, test } from 'vitest'
import type { Call } from '../../src/runtime/server/core/context'
import { executeGroups } from '../../src/runtime/server/core/execute/aggregate/groups'
import { executeGet } from '../../src/runtime/server/core/execute/read/get'
import { executeList } from '../../src/runtime/server/core/execute/read/list'
import { executeWrite } from '../../src/runtime/server/core/execute/write/run'
import type { RouteSteps } from '../../src/runtime/server/core/pipeline'
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
  test('is not read', () => {
    // @ts-expect-error -- not scoped
    void executeList(list, call)
    // @ts-expect-error -- not scoped
    void executeGet(get, call)
  })

  test('is not aggregated', () => {
    // @ts-expect-error -- not scoped
    void executeGroups(groups, call)
  })

  test('is not written', () => {
    // @ts-expect-error -- not scoped
    void executeWrite(write, call)
  })

  test('does not become one by having what a scope has', () => {
    // @ts-expect-error -- the mark of a scope has no name outside scope.ts
    void executeList({ ...list, scope: [], include: [], accepts: undefined }, call)
    // @ts-expect-error -- the mark of a scope has no name outside scope.ts
    void executeWrite({ ...write, scope: [], include: [], accepts: undefined }, call)
    // @ts-expect-error -- the mark of a scope has no name outside scope.ts
    const scoped: Scoped<WritePlan> = { ...write, scope: [], include: [] }
    void scoped
  })

  test('does not become one by an own mark', () => {
    const scoped: unique symbol = Symbol('scoped')
    // @ts-expect-error -- another symbol
    void executeWrite({ ...write, scope: [], include: [], [scoped]: true }, call)
  })
})

describe('a scope', () => {
  test('is what applyScope makes, of its own kind of plan', async () => {
    void executeList(await applyScope(call, list), call)
    void executeWrite(await applyScope(call, write), call)
    // @ts-expect-error -- a scoped write is no scoped list
    void executeList(await applyScope(call, write), call)
  })

  test('keeps the tuple of an include, and the further members of each entry', () => {
    expectTypeOf<Scoped<RelatedPlan>['include'][0]['plan']>().toEqualTypeOf<Scoped<ListPlan>>()
    expectTypeOf<Scoped<RelatedPlan>['include']['length']>().toEqualTypeOf<1>()
    expectTypeOf<Scoped<LinkPlan>['include'][number]['ids']>().toEqualTypeOf<LinkTarget['ids']>()
    expectTypeOf<Scoped<LinkPlan>['include'][number]['through']>().toEqualTypeOf<Scoped<Plan>>()
  })

  test('has a mark that nobody can import', async () => {
    // @ts-expect-error -- not exported
    type Mark = typeof import('../../src/runtime/server/core/access/row-scope').scoped
    expectTypeOf<Mark>().toBeAny()
  })
})

describe('a route', () => {
  test('gives its execute a scope, whatever it plans', () => {
    expectTypeOf<Parameters<RouteSteps<unknown, WritePlan, unknown>['execute']>[0]>().toEqualTypeOf<Scoped<WritePlan>>()
  })

  test('cannot be made without saying what the caller must be allowed to do', () => {
    const steps = { parse: () => 1, plan: () => write, execute: executeWrite, respond: () => ({ status: 200, body: {} }) }
    // @ts-expect-error -- no operation
    const route: RouteSteps<number, WritePlan, Awaited<ReturnType<typeof executeWrite>>> = steps
    void route
  })
})
