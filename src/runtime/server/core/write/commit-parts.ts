/** Commits the items of a write: all in one commit, or each in its own. If a commit fails, it finds the failed items and their errors. */
import type { Call } from '../request/session'
import { bulkFailed, type ItemFailure } from './bulk-error'
import { changedMeanwhile, isBusy, isInvalidReference } from '../error'
import type { WritePlan } from '../plan/write'
import type { Scoped } from '../access/row-scope'
import { commitOperations } from '../commit/commit'
import { watchCommit } from '../commit/changes/watching'
import { CommitFailed, type WritingPlan } from '../commit/failure'
import type { WriteOperation } from '../commit/operation'
import { findAlreadyDeleted } from './already-deleted'
import { checkConditions, hasConditions } from './conditions'
import { findFailedItems } from './failed-items'
import { withoutError, type Item } from './items'
import { isChangedSinceJudged, judgeAgain } from './judge-again'
import { OPERATIONS } from './operations'
import { hasFailed, inOrder, itemsOf, stopOnFailure, type Refused, type WritePart } from './parts'
import { checkReferences } from './references'
import { loadTargets } from './targets'
import { attempt, inTurn, type Awaitable } from '../awaitable'

/** What differs between the commit of a cascade group and other commits. */
export interface CommitRules {
  /** The operations of all parts, in the order in which they run. */
  readonly operations: (parts: readonly WritePart[], commit: PartsCommit) => readonly WriteOperation[]
  /** The plan of the commit: that of the request, with the rows of the group. */
  readonly planOf: (parts: readonly WritePart[], commit: PartsCommit) => WritingPlan
  /** Loads the rows again after one of them has changed since code judged it. Without it, the commit is not repeated. */
  readonly judgeAgain?: (part: WritePart) => Promise<void>
  /** @throws If an item has an error. */
  readonly stop: (parts: readonly WritePart[]) => void
  readonly toError: (parts: readonly WritePart[], failure: CommitFailed) => Promise<unknown>
}

export interface PartsCommit {
  readonly rules: CommitRules
  readonly time: Date
  /** The plan and the call of the request. */
  readonly request: Pick<WritePart, 'plan' | 'call'> & Refused
}

/** How most writes are committed: the request names their records. */
export const ITEMS: CommitRules = {
  operations: (parts, { time }) =>
    parts.length === 1 ? operationsOf(parts[0]!, time) : locksFirst(parts.flatMap(part => operationsOf(part, time))),
  planOf: (_, { request }) => request.plan,
  judgeAgain: ({ plan, items, call }) => judgeAgain(plan, items, call),
  stop: stopOnFailure,
  toError: toItemsError,
}

export const operationsOf = ({ plan, items, written, call, links }: WritePart, time: Date): readonly WriteOperation[] =>
  links ? links.operations(time) : OPERATIONS[plan.kind](plan, items, written, call, time)

export const locksFirst = (operations: readonly WriteOperation[]): readonly WriteOperation[] =>
  [...operations.filter(({ phase }) => phase === 'lock'), ...operations.filter(({ phase }) => phase !== 'lock')]

/** @throws The error of a single write, or `BULK_FAILED` with the items that failed. */
export function commitAll(parts: readonly WritePart[], commit: PartsCommit): Awaitable<void> {
  return attempt(() => commitParts(parts, commit), async (error): Promise<never> => {
    throw error instanceof CommitFailed ? await commit.rules.toError(parts, error) : error
  })
}

async function toItemsError(parts: readonly WritePart[], failure: CommitFailed): Promise<unknown> {
  const [{ plan, items: [first], call }] = parts as [WritePart, ...WritePart[]]
  if (failure.expectation === 'reference') await assertReferences(parts)
  // If the database is busy, the items are not the cause.
  if (isBusy(failure.reason)) return failure.reason
  if (!plan.bulk) return recheckTarget(plan, first!, failure, call)
  const failures: ItemFailure[] = []
  for (const { plan, items, call } of parts) {
    for (const { item, failure: own } of await findFailedItems(plan, withoutError(items), failure, call))
      failures.push({ index: item.index, id: item.id, ctx: call.ctx, error: await recheckTarget(plan, item, own, call) })
  }
  return bulkFailed(failure.expectation ? 'nothing was written' : 'rolled back', inOrder(failures), failure.reason, call.ctx)
}

/** Commits one item of a batch that is not atomic. A failure becomes the error of the item. */
export async function commitOne(part: WritePart, item: Item, commit: PartsCommit): Promise<void> {
  const { plan, written, call } = part
  try {
    await commitParts([{ ...part, items: [item] }], commit)
  }
  catch (error) {
    written.delete(item.index)
    const alreadyDeleted = error instanceof CommitFailed && await findAlreadyDeleted(plan, item, written, call)
    if (alreadyDeleted) written.set(item.index, alreadyDeleted)
    else item.error = error instanceof CommitFailed ? await recheckTarget(plan, item, error, call) : error
  }
}

/**
 * Commits the items of all parts. If an object-level rule accepted a row and that row changes before the commit, the commit fails. This
 * function then judges the rows again and repeats the commit once. Hooks do not run again.
 * @throws {CommitFailed}
 */
export function commitParts(parts: readonly WritePart[], commit: PartsCommit): Awaitable<void> {
  const { rules, request } = commit
  const commitOnce = () => watchCommit(request.call, () =>
    commitOperations(rules.planOf(parts, commit), rules.operations(parts, commit), request.call))
  const isChanged = (error: unknown): error is CommitFailed => parts.some(({ plan, items }) => isChangedSinceJudged(error, plan, items))
  return attempt(commitOnce, async (error) => {
    if (!rules.judgeAgain || !isChanged(error)) throw error
    const items = itemsOf(parts)
    const before = items.map(({ row, references }) => ({ row, references, error: undefined }))
    for (const part of parts) await rules.judgeAgain(part)
    rules.stop(parts)
    await assertReferences(parts)
    const failed = items.find(hasFailed)
    if (failed) {
      const { error: reason, index } = failed
      // The batch decides what becomes of its items: an earlier one can have deleted the row. Then it can try them again.
      for (const [position, item] of items.entries()) Object.assign(item, before[position])
      throw new CommitFailed(reason, index, error.expectation)
    }
    try {
      await commitOnce()
    }
    catch (secondError) {
      if (!isChanged(secondError) || secondError.expectation === 'row') throw secondError
      throw new CommitFailed(changedMeanwhile(), secondError.item)
    }
  })
}

/** Reads the references of the items now. @throws The error of a single write, or `BULK_FAILED`. */
async function assertReferences(parts: readonly WritePart[]): Promise<void> {
  await inTurn(parts, ({ plan, items, call, isChecked }) => checkReferences(plan, items, call, 'now', isChecked))
  await findReasons(parts)
}

/** Finds out why the items have failed. @throws The error of a single write, or `BULK_FAILED`. */
export function findReasons(parts: readonly WritePart[]): Awaitable<void> {
  if (itemsOf(parts).some(hasFailed)) return findEachReason(parts)
}

async function findEachReason(parts: readonly WritePart[]): Promise<void> {
  for (const { plan, items, call } of parts) {
    for (const item of items.filter(hasFailed)) item.error = await recheckTarget(plan, item, { reason: item.error }, call)
  }
  stopOnFailure(parts)
}

/**
 * Loads the row again to find the reason why its item failed.
 *
 * - A statement checks several references at once, and did not say which of them is invalid.
 * - A reference of an update is invalid: one cascade can delete the row and the row that it references. In this case, the caller gets the
 *   error of the row itself (404), not the error of the reference.
 * - The statement did not find the row of an item with conditions or unchanged foreign keys: the row is no longer visible, does not meet a
 *   condition, or has other foreign keys now.
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
  const unmet = expectation === 'row' && (hasConditions(item) || item.unchangedKeys !== undefined)
  if (!unmet && (plan.kind !== 'update' || !isInvalidReference(reason))) return reason
  const current = { ...item, error: undefined }
  await loadTargets(plan, [current], call)
  if (unmet) await checkConditions(plan, [current], call)
  return current.error ?? (unmet ? changedMeanwhile() : reason)
}
