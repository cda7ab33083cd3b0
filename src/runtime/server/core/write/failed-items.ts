/** Finds the items that made a batch fail. It tries each item alone and rolls the try back. Hooks do not run again. */
import type { Call } from '../request/session'
import { isBusy } from '../error'
import type { WritePlan } from '../plan/write'
import type { Scoped } from '../access/row-scope'
import { tryOperations } from '../commit/commit'
import { violatedFields, type CommitFailed } from '../commit/failure'
import type { Expectation, WriteOperation } from '../commit/operation'
import type { Item } from './items'
import { yieldToEventLoop } from '../process/turns'
import { targetColumns } from './targets'
import { decoder } from '../read/rows/decode'
import { OPERATIONS } from './operations'

interface FailedItem {
  readonly item: Item
  readonly failure: CommitFailed
}

type Attempt = (items: readonly Item[]) => Promise<CommitFailed | undefined>

/** The time limit in milliseconds. After this time, no further item is tried. */
const MAX_DURATION = 5_000
/** The number of attempts after which other requests can run. A synchronous engine would block them otherwise. */
const ATTEMPTS_PER_TURN = 10

/**
 * Returns the items that fail alone. If no item fails alone, it returns the items that conflict with each other, as far as the database
 * reports them.
 * @param batchFailure the reason why the commit of the whole batch failed.
 * @throws 503 when the database is too busy to try the items.
 */
export async function findFailedItems(
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  batchFailure: CommitFailed,
  call: Call,
): Promise<readonly FailedItem[]> {
  const attempt = createAttempt(plan, batchFailure.expectation, call)
  const deadline = Date.now() + MAX_DURATION
  const failing: FailedItem[] = []
  const passing: Item[] = []
  for (const [index, item] of items.entries()) {
    if (Date.now() > deadline) break
    if (index % ATTEMPTS_PER_TURN === ATTEMPTS_PER_TURN - 1) await yieldToEventLoop()
    const failure = await attempt([item])
    if (failure) failing.push({ item, failure })
    else passing.push(item)
  }
  if (failing.length === 0) return findConflicts(plan, items, batchFailure, call)
  const failed: FailedItem[] = []
  for (const { item, failure } of failing) {
    // Items can reference each other. An item that fails alone but passes together with the passing items has not failed.
    const dependsOnOthers = failing.length > 1 && passing.length > 0 && isAboutReferences(failure) && Date.now() < deadline
    if (dependsOnOthers && !await attempt(items.filter(other => other === item || passing.includes(other)))) continue
    failed.push({ item, failure })
  }
  return failed.length > 0 ? failed : failing
}

const isAboutReferences = ({ expectation, violation }: CommitFailed) => expectation === 'restrict' || violation?.kind === 'reference'

/** @param expectation the check that failed in the batch; undefined when the database refused the batch. */
function createAttempt(plan: Scoped<WritePlan>, expectation: Expectation | undefined, call: Call): Attempt {
  return async (items) => {
    const operations = OPERATIONS[plan.kind](plan, items, new Map(), call, new Date())
    const failure = await tryOperations(plan, upToLast(expectation, operations), call)
    if (failure && isBusy(failure.reason)) throw failure.reason
    return failure
  }
}

/** Leaves out the operations after the last check of this kind, such as a cascade, because they cannot make the check fail. */
function upToLast(expectation: Expectation | undefined, operations: readonly WriteOperation[]): readonly WriteOperation[] {
  const last = expectation ? operations.findLastIndex(operation => operation.expectation === expectation) : -1
  return last === -1 ? operations : operations.slice(0, last + 1)
}

/** Returns the item whose operation failed. If it is unknown, returns all items with the same values in a violated unique constraint. */
function findConflicts(plan: Scoped<WritePlan>, items: readonly Item[], batchFailure: CommitFailed, call: Call): readonly FailedItem[] {
  const { item: index, violation } = batchFailure
  const reported = items.filter(item => item.index === index)
  if (reported.length > 0 || violation?.kind !== 'unique') return reported.map(item => ({ item, failure: batchFailure }))
  const names = violatedFields(violation, call).filter(name => name !== plan.resource.tenant?.name)
  // A collation can ignore case and spaces. Different texts can then violate the constraint.
  const duplicates = findDuplicates(plan, items, names, String)
    ?? findDuplicates(plan, items, names, value => String(value).toLowerCase().trim())
  return (duplicates ?? []).map(item => ({ item, failure: batchFailure }))
}

type ToText = (value: unknown) => string

/** Returns the items with the same values in these fields. A value that was neither written nor read is compared as an empty text. */
function findDuplicates(
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  names: readonly string[],
  toText: ToText,
): readonly Item[] | undefined {
  const decode = decoder(targetColumns(plan))
  const byValues = new Map<string, Item[]>()
  for (const item of items) {
    const row = { ...item.row && decode(item.row), ...item.values }
    // A unique constraint treats NULLs as different values.
    if (!names.some(name => Object.hasOwn(item.values, name)) || names.some(name => row[name] === null)) continue
    const texts = names
      .map(name => row[name])
      .map(value => (value === undefined ? '' : toText(value instanceof Date ? value.getTime() : value)))
    const key = JSON.stringify(texts)
    byValues.set(key, [...byValues.get(key) ?? [], item])
  }
  const duplicates = new Set([...byValues.values()].filter(group => group.length > 1).flat())
  return duplicates.size > 0 ? items.filter(item => duplicates.has(item)) : undefined
}
