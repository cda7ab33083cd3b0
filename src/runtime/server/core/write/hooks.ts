/** Runs the hooks of a write. Each kind of write has its own hooks with their own arguments. */
import { is, SQL } from 'drizzle-orm'
import type { AutoApiContext, ConditionalContext } from '../../registration'
import type { Call } from '../request/session'
import { preconditionFailed } from '../error'
import { findHooks, idForHooks, itemContext, runAfterHooks, runHooks, type AnyHook, type HookName } from '../request/hooks'
import type { WriteKind, WritePlan } from '../plan/write'
import type { WriteCondition } from '../sql/condition'
import { andThen, type Awaitable } from '../awaitable'
import { forEachItem, type Item, type WrittenItem } from './items'
import type { WriteResult } from './result'
import { fromSql } from '../sql/conditions'

const BEFORE: Readonly<Record<WriteKind, HookName>> = {
  create: 'beforeCreate',
  update: 'beforeUpdate',
  delete: 'beforeDelete',
  restore: 'beforeRestore',
  purge: 'beforePurge',
}
const AFTER: Readonly<Record<WriteKind, HookName>> = {
  create: 'afterCreate',
  update: 'afterUpdate',
  delete: 'afterDelete',
  restore: 'afterRestore',
  purge: 'afterPurge',
}

/**
 * Returns a function that creates the context of an item. Without hooks it is unused, and the items share that of the request: a
 * context that inherits from the latter makes every later access to the latter slow.
 */
export function itemContexts({ kind, resource }: Pick<WritePlan, 'kind' | 'resource'>, call: Call): () => AutoApiContext {
  const hooks = [BEFORE[kind], AFTER[kind]].some(name => findHooks(call, resource, name).length > 0)
  return hooks ? () => itemContext(call) : () => call.ctx
}

export const hasAfterHooks = ({ kind, resource }: Pick<WritePlan, 'kind' | 'resource'>, call: Call): boolean =>
  findHooks(call, resource, AFTER[kind]).length > 0

/** Runs the before-hooks of each item. An error of a hook becomes the error of its item. */
export function runBeforeEach(plan: Pick<WritePlan, 'kind' | 'resource'>, items: readonly Item[], call: Call): Awaitable<void> {
  if (findHooks(call, call.resource, BEFORE[plan.kind]).length > 0) {
    return forEachItem(items, item => item.isHooked ? undefined : runBefore(plan, item, call))
  }
}

/** Replaces the item's values with the values that the hooks return. Adds the conditions that they set to those of the item. */
function runBefore({ kind, resource }: Pick<WritePlan, 'kind' | 'resource'>, item: Item, call: Call): Awaitable<void> {
  const id = item.key && idForHooks(resource, item.key)
  const takeCondition = <T>(result: T): T => {
    const condition = takeConditionOf(kind, item, call)
    if (condition) item.conditions = [...item.conditions ?? [], condition]
    return result
  }
  const values = runHooks(call, BEFORE[kind], item.values, (run, data) => {
    const hook = run as AnyHook
    const result = kind === 'create' ? hook(data, item.ctx) : kind === 'update' ? hook(id, data, item.ctx) : hook(id, item.ctx)
    return andThen(result, takeCondition)
  })
  return andThen(values, values => void (item.values = values))
}

/** Removes the condition from the context, so that the next hook sets its own. The context of the request can have a key of this name. */
function takeConditionOf(kind: WriteKind, { ctx }: Item, { resource }: Call): WriteCondition | undefined {
  if (!Object.hasOwn(ctx, 'condition')) return undefined
  const set = ctx as ConditionalContext
  const condition: unknown = set.condition
  delete set.condition
  if (condition === undefined) return undefined
  const hook = `${BEFORE[kind]} of \`${resource.name}\``
  if (kind === 'create') throw new TypeError(`[auto-api] ${hook} set \`ctx.condition\`. There is no row yet that could meet it.`)
  if (!is(condition, SQL)) throw new TypeError(`[auto-api] ${hook} set \`ctx.condition\` to something that is neither SQL nor undefined.`)
  return { clauses: [fromSql(condition)], error: preconditionFailed }
}

/** Replaces each record with the record that the hooks return. The write is committed, so all hooks run even if one of them fails. */
export function runAfter(
  plan: WritePlan, items: readonly Item[], result: WriteResult, call: Call, errors: unknown[],
): Awaitable<void> {
  if (hasAfterHooks(plan, call)) return runAfterEach(plan, items, result, call, errors)
}

async function runAfterEach(
  { kind, resource }: WritePlan, items: readonly Item[], { written }: WriteResult, call: Call, errors: unknown[],
): Promise<void> {
  const byIndex = new Map(items.map(item => [item.index, item]))
  for (const result of written) {
    const item = byIndex.get(result.index)!
    const record = await runAfterHooks(call, AFTER[kind], result.record, (run, current) => {
      const hook = run as AnyHook
      return current ? hook(current, item.ctx) : hook(idForHooks(resource, item.key!), item.ctx)
    }, errors)
    if (record) (result as WrittenItem).record = record
  }
}
