/** Runs a write or a dry run of one: load the rows, run the before-hooks, check fields and references, commit, run the after-hooks. */
import { inTurn, type Awaitable } from '../awaitable'
import type { Call } from '../request/session'
import type { WritePlan } from '../plan/write'
import type { Scoped } from '../access/row-scope'
import { assertConfirmed, countAffected, type AffectedPart } from './count-affected'
import { assertReferences, commitAll, commitOne, type ItemsCommit } from './commit-items'
import { checkConditions } from './conditions'
import { dryRunItems } from './dry-run-items'
import { commitGroup, findGroup } from './group'
import { itemContexts, runAfter, runBeforeEach } from './hooks'
import { stopOnFailure, toItems, withoutError, type Item, type WrittenItem } from './items'
import { checkTags } from './tags'
import { loadTargets } from './targets'
import { toResult, type WriteResult } from './result'
import { checkWritable } from './writable-values'

/** Runs around the commit of a write. Groups do not call it. */
export interface CommitListeners {
  /** Runs before the commit. After it, an error can leave open whether the items were written. */
  readonly onCommitting?: () => void
  /** Runs after the commit. The after-hooks follow; their errors do not undo the commit. */
  readonly onCommitted?: (items: readonly Item[]) => unknown
}

/** What a write does before its commit, in this order. A step returns a promise only if it waits for something. */
const PREPARATIONS: readonly ((plan: Scoped<WritePlan>, items: readonly Item[], call: Call) => Awaitable<void>)[] = [
  loadTargets,
  checkConditions,
  checkTags,
  stopOnFailure,
  runBeforeEach,
  checkWritable,
  (plan, items, call) => assertReferences(plan, items, call, 'commit'),
  (plan, items, call) => plan.confirm === undefined ? undefined : assertConfirmed(plan, [{ plan, items }], call),
]

/** Writes the items of a request. A write of a single record has one item. */
export async function executeWrite(
  plan: Scoped<WritePlan>, call: Call, { onCommitting, onCommitted }: CommitListeners = {},
): Promise<WriteResult> {
  if (plan.deletionId !== undefined) return executeGroupWrite(plan, call)
  const items = toItems(plan, itemContexts(plan, call))
  await inTurn(PREPARATIONS, prepare => prepare(plan, items, call))
  const written = new Map<number, WrittenItem>()
  const commit: ItemsCommit = { plan, call, written, time: new Date() }
  const { dryRun } = call.ctx
  onCommitting?.()
  if (plan.atomic) await commitAll(items, commit)
  else if (dryRun) await dryRunItems(items, commit)
  else for (const item of withoutError(items)) await commitOne(item, commit)
  const result = toResult(plan, items, written)
  if (dryRun) return withAffected(result, [{ plan, items: items.filter(({ index }) => written.has(index)) }], call)
  if (onCommitted) await onCommitted(items)
  const errors: unknown[] = []
  await runAfter(plan, items, result, call, errors)
  if (errors.length > 0) throw errors[0]
  return result
}

/**
 * Restores or purges all rows that one cascading delete moved to the trash. For each row, the hooks of its resource run, as if the request
 * had addressed the row by its id.
 */
async function executeGroupWrite(plan: Scoped<WritePlan>, call: Call): Promise<WriteResult> {
  const parts = await findGroup(plan, call)
  for (const { plan, items, call } of parts) await runBeforeEach(plan, items, call)
  stopOnFailure(plan, parts.flatMap(({ items }) => items).map((item, index) => ({ ...item, index })))
  if (plan.confirm !== undefined) await assertConfirmed(plan, parts, call)
  await commitGroup(plan, parts, call)
  const errors: unknown[] = []
  let result = toResult(plan, [], new Map())
  for (const part of parts) {
    const partResult = toResult(part.plan, part.items, part.written)
    await runAfter(part.plan, part.items, partResult, part.call, errors)
    if (part.plan.resource === plan.resource) result = partResult
  }
  if (errors.length > 0) throw errors[0]
  result = { ...result, total: parts.reduce((sum, { items }) => sum + items.length, 0) }
  return call.ctx.dryRun ? withAffected(result, parts, call) : result
}

/** A dry run of a write that reaches other rows counts them. */
async function withAffected(result: WriteResult, parts: readonly AffectedPart[], call: Call): Promise<WriteResult> {
  const { kind } = result.plan
  return kind === 'create' || kind === 'update' ? result : { ...result, affected: await countAffected(parts, call) }
}
