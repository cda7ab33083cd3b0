/** Commits the items of a write: all in one commit, or each in its own. If a commit fails, it finds the failed items and their errors. */
import type { Call } from '../request/session'
import { bulkFailed } from './bulk-error'
import { changedMeanwhile, isBusy, isInvalidReference } from '../error'
import type { WritePlan } from '../plan/write'
import type { Scoped } from '../access/row-scope'
import { commitOperations } from '../commit/commit'
import { CommitFailed } from '../commit/failure'
import { findAlreadyDeleted } from './already-deleted'
import { checkConditions, hasConditions } from './conditions'
import { findFailedItems } from './failed-items'
import { stopOnFailure, type Item, type WrittenItem } from './items'
import { isChangedSinceJudged, judgeAgain } from './judge-again'
import { OPERATIONS } from './operations'
import { checkReferences } from './references'
import { loadTargets } from './targets'
import { andThen, attempt, type Awaitable } from '../awaitable'

/** A write whose items are committed, all at once or some of them. */
export interface ItemsCommit {
  readonly plan: Scoped<WritePlan>
  readonly call: Call
  /** Receives the results of the items, by index. */
  readonly written: Map<number, WrittenItem>
  readonly time: Date
}

/** @throws The error of a single write, or `BULK_FAILED` with the items that failed. */
export function commitAll(items: readonly Item[], commit: ItemsCommit): Awaitable<void> {
  return attempt(() => commitItems(items, commit), error => throwFailure(error, items, commit))
}

async function throwFailure(error: unknown, items: readonly Item[], { plan, call }: ItemsCommit): Promise<never> {
  if (!(error instanceof CommitFailed)) throw error
  if (error.expectation === 'reference') await assertReferences(plan, items, call, 'now')
  // If the database is busy, the items are not the cause.
  if (isBusy(error.reason)) throw error.reason
  if (!plan.bulk) throw await recheckTarget(plan, items[0]!, error, call)
  const failed = await findFailedItems(plan, items, error, call)
  const failures = await Promise.all(
    failed.map(async ({ item, failure }) => ({
      index: item.index, id: item.id, ctx: call.ctx, error: await recheckTarget(plan, item, failure, call),
    })),
  )
  throw bulkFailed(error.expectation ? 'nothing was written' : 'rolled back', failures, error.reason, call.ctx)
}

/** Commits one item of a batch that is not atomic. A failure becomes the error of the item. */
export async function commitOne(item: Item, commit: ItemsCommit): Promise<void> {
  const { plan, written, call } = commit
  try {
    await commitItems([item], commit)
  }
  catch (error) {
    written.delete(item.index)
    const alreadyDeleted = error instanceof CommitFailed && await findAlreadyDeleted(plan, item, written, call)
    if (alreadyDeleted) written.set(item.index, alreadyDeleted)
    else item.error = error instanceof CommitFailed ? await recheckTarget(plan, item, error, call) : error
  }
}

/**
 * Commits the items. If an object-level rule accepted a row and that row changes before the commit, the commit fails. This function then
 * judges the rows again and repeats the commit once. Hooks do not run again.
 * @throws {CommitFailed}
 */
export function commitItems(items: readonly Item[], commit: ItemsCommit): Awaitable<void> {
  const { plan, call } = commit
  return attempt(() => commitOnce(items, commit), async (error) => {
    if (!isChangedSinceJudged(error, plan, items)) throw error
    const before = items.map(({ row, references }) => ({ row, references, error: undefined }))
    await judgeAgain(plan, items, call)
    stopOnFailure(plan, items)
    await assertReferences(plan, items, call, 'now')
    const failed = items.map(({ index, error }) => ({ index, error })).find(({ error }) => error !== undefined)
    if (failed) {
      // The batch decides what becomes of its items: an earlier one can have deleted the row. Then it can try them again.
      for (const [position, item] of items.entries()) Object.assign(item, before[position])
      throw new CommitFailed(failed.error, failed.index, error.expectation)
    }
    try {
      await commitOnce(items, commit)
    }
    catch (secondError) {
      if (!isChangedSinceJudged(secondError, plan, items) || secondError.expectation === 'row') throw secondError
      throw new CommitFailed(changedMeanwhile(), secondError.item)
    }
  })
}

const commitOnce = (items: readonly Item[], { plan, written, call, time }: ItemsCommit) =>
  commitOperations(plan, OPERATIONS[plan.kind](plan, items, written, call, time), call)

/** @throws The error of a single write, or `BULK_FAILED`. */
export function assertReferences(
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  call: Call,
  when: 'now' | 'commit',
): Awaitable<void> {
  return andThen(checkReferences(plan, items, call, when), () => {
    if (items.some(({ error }) => error !== undefined)) return findReasons(plan, items, call)
  })
}

/** @throws The error of a single write, or `BULK_FAILED`. */
async function findReasons(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): Promise<void> {
  for (const item of items) if (item.error !== undefined) item.error = await recheckTarget(plan, item, { reason: item.error }, call)
  stopOnFailure(plan, items)
}

/**
 * Loads the row again to find the reason why its item failed.
 *
 * - A statement checks several references at once, and did not say which of them is invalid.
 * - A reference of an update is invalid: one cascade can delete the row and the row that it references. In this case, the caller gets the
 *   error of the row itself (404), not the error of the reference.
 * - The statement did not find the row of an item with conditions: the row is no longer visible, or it does not meet a condition.
 */
export async function recheckTarget(
  plan: Scoped<WritePlan>,
  item: Item,
  { reason, expectation }: Pick<CommitFailed, 'reason' | 'expectation'>,
  call: Call,
): Promise<unknown> {
  if (expectation === 'reference') {
    const checked = { ...item, error: undefined }
    await checkReferences(plan, [checked], call, 'now')
    if (checked.error !== undefined) return recheckTarget(plan, item, { reason: checked.error }, call)
  }
  const unmet = expectation === 'row' && hasConditions(item)
  if (!unmet && (plan.kind !== 'update' || !isInvalidReference(reason))) return reason
  const current = { ...item, error: undefined }
  await loadTargets(plan, [current], call)
  if (unmet) await checkConditions(plan, [current], call)
  return current.error ?? (unmet ? changedMeanwhile() : reason)
}
