/** Runs several writes of one resource in one commit, such as its creates and its updates. Each item has the rules of a bulk request. */
import type { Call } from '../request/session'
import { bulkFailed, type ItemFailure } from './bulk-error'
import { changedMeanwhile, isBusy, isNotFound } from '../error'
import type { WritePlan } from '../plan/write'
import type { Scoped } from '../access/row-scope'
import { commitOperations } from '../commit/commit'
import { CommitFailed } from '../commit/failure'
import type { WriteOperation } from '../commit/operation'
import { recheckTarget } from './commit-items'
import { checkConditions } from './conditions'
import { findFailedItems } from './failed-items'
import { runAfter, runBeforeEach } from './hooks'
import { withoutError, type Item, type WrittenItem } from './items'
import { isChangedSinceJudged, judgeAgain } from './judge-again'
import { OPERATIONS } from './operations'
import { checkReferences } from './references'
import { toResult } from './result'
import { loadTargets } from './targets'
import { checkWritable } from './writable-values'

/** One write, with the call of its operation. The indexes of its items are unique among all parts. */
export interface WritePart {
  readonly plan: Scoped<WritePlan>
  readonly call: Call
  readonly items: readonly Item[]
}

interface Running extends WritePart {
  readonly written: Map<number, WrittenItem>
}

/**
 * In a dry run, the commit is rolled back, and after-hooks do not run.
 * @throws `BULK_FAILED` with the failed items of all parts; then nothing is written.
 */
export async function executeParts(given: readonly WritePart[]): Promise<void> {
  const parts = given.filter(({ items }) => items.length > 0).map((part): Running => ({ ...part, written: new Map() }))
  for (const { plan, items, call } of parts) {
    await loadTargets(plan, items, call)
    // The row was found a moment ago, or the item would be a create.
    for (const item of items) if (item.key && isNotFound(item.error)) item.error = changedMeanwhile()
    await checkConditions(plan, items, call)
  }
  assertNoFailure(parts)
  for (const { plan, items, call } of parts) {
    await runBeforeEach(plan, items, call)
    await checkWritable(plan, items, call)
    await checkReferences(plan, items, call, 'commit')
  }
  assertNoFailure(parts)
  if (parts.length > 0) await commitParts(parts)
  const errors: unknown[] = []
  for (const { plan, items, written, call } of parts) {
    const byIndex: Item[] = []
    for (const item of items) byIndex[item.index] = item
    await runAfter(plan, byIndex, toResult(plan, items, written), call, errors)
  }
  if (errors.length > 0) throw errors[0]
}

/** @throws `BULK_FAILED` if an item has an error. */
function assertNoFailure(parts: readonly Running[]): void {
  const failed = parts.flatMap(({ items }) => items.filter(({ error }) => error !== undefined))
  if (failed.length > 0) throw bulkFailed('nothing was written', inOrder(failed))
}

const inOrder = <T extends ItemFailure>(failures: readonly T[]) => [...failures].sort((a, b) => a.index - b.index)

async function commitParts(parts: readonly Running[]): Promise<void> {
  try {
    await commitOnce(parts)
  }
  catch (error) {
    if (!parts.some(({ plan, items }) => isChangedSinceJudged(error, plan, items))) throw await toBulkError(parts, error)
    for (const { plan, items, call } of parts) {
      await judgeAgain(plan, items, call)
      await checkReferences(plan, items, call, 'now')
    }
    assertNoFailure(parts)
    await commitOnce(parts).catch(async secondError => Promise.reject(await toBulkError(parts, secondError)))
  }
}

async function commitOnce(parts: readonly Running[]): Promise<void> {
  const [{ plan, call }] = parts as [Running, ...Running[]]
  const time = new Date()
  const operations = parts.flatMap(({ plan, items, written, call }): readonly WriteOperation[] =>
    OPERATIONS[plan.kind](plan, items, written, call, time))
  const locks = operations.filter(({ phase }) => phase === 'lock')
  const ordered = [...locks, ...operations.filter(({ phase }) => phase !== 'lock')]
  await commitOperations(plan, ordered, call)
}

/** Finds the items that made the commit fail. */
async function toBulkError(parts: readonly Running[], failure: unknown): Promise<unknown> {
  if (!(failure instanceof CommitFailed)) return failure
  // If the database is busy, the items are not the cause.
  if (isBusy(failure.reason)) return failure.reason
  if (failure.expectation === 'reference') {
    for (const { plan, items, call } of parts) await checkReferences(plan, items, call, 'now')
    const failed = parts.flatMap(({ items }) => items.filter(({ error }) => error !== undefined))
    return failed.length > 0
      ? bulkFailed('nothing was written', inOrder(failed))
      : bulkFailed('nothing was written', [], changedMeanwhile())
  }
  const failures: ItemFailure[] = []
  for (const { plan, items, call } of parts) {
    for (const { item, failure: own } of await findFailedItems(plan, withoutError(items), failure, call))
      failures.push({ index: item.index, id: item.id, error: await recheckTarget(plan, item, own, call) })
  }
  return bulkFailed(failure.expectation ? 'nothing was written' : 'rolled back', inOrder(failures), failure.reason)
}
