/** The types of the server utils for commits: only `atomicWrites` accepts what `reportChanges` returns. */
import type { AutoApiContext } from 'nuxt-auto-api/define'
import { atomicWrites, reportChanges } from 'nuxt-auto-api/utils'
import { expectTypeOf, test } from 'vitest'
import { posts } from './define.test-d'

declare const ctx: AutoApiContext

test('the return value of reportChanges is an entry of atomicWrites and nothing else', () => {
  const entry = reportChanges(ctx, [{ resource: 'posts', kind: 'update', id: 1 }, { table: posts, kind: 'create', id: 2n }])
  void atomicWrites(ctx, [entry])
  expectTypeOf(entry).not.toExtend<PromiseLike<unknown>>()
  expectTypeOf(entry).not.toExtend<(...args: never[]) => unknown>()
  // @ts-expect-error -- only reportChanges creates an entry
  void atomicWrites(ctx, [{}])
})

test('a change names a resource or a table, with a kind and an id', () => {
  // @ts-expect-error -- an entry cannot name both
  reportChanges(ctx, [{ resource: 'posts', table: posts, kind: 'update', id: 1 }])
  // @ts-expect-error -- neither
  reportChanges(ctx, [{ kind: 'update', id: 1 }])
  // @ts-expect-error -- no such kind
  reportChanges(ctx, [{ resource: 'posts', kind: 'updated', id: 1 }])
  // @ts-expect-error -- an id is required
  reportChanges(ctx, [{ resource: 'posts', kind: 'update' }])
})
