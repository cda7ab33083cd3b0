/** The commit of several writes, one after another: each part sees what the parts before it have written. */
import type { ApiError } from '../error'
import { invalidBody, isBusy } from '../error'
import { groupBy } from '../../../shared/group-by'
import { keyFields } from '../access/fields'
import { tryOperations } from '../commit/commit'
import type { CommitFailed } from '../commit/failure'
import type { WriteOperation } from '../commit/operation'
import { selectStatement } from '../commit/select'
import { yieldToEventLoop } from '../process/turns'
import { bulkFailed, type ItemFailure } from './bulk-error'
import { operationsOf, type CommitRules } from './commit-parts'
import type { Item } from './items'
import { judgeAgain } from './judge-again'
import { withDependents } from './late'
import { failureOf, inOrder, itemsOf, stopOnFailure, type WritePart } from './parts'
import { tupleKey } from '../sql/tuple-key'
import { keysClause } from './targets'

/** The operations of the parts in their order: a lock can need the row that an earlier part makes. */
export const STEPS: CommitRules = {
  operations: (parts, { time }) => operationsInOrder(parts, time),
  planOf: (_, { request }) => request.plan,
  judgeAgain: ({ plan, items, call }) => judgeAgain(plan, items.filter(({ isDeferred }) => !isDeferred), call),
  stop: stopOnFailure,
  toError: toStepsError,
}

function operationsInOrder(parts: readonly WritePart[], time: Date): readonly WriteOperation[] {
  for (const recount of itemsOf(parts).flatMap(({ recounts = [] }) => recounts)) recount(parts)
  const toStep = (part: WritePart, step: number) => (operation: WriteOperation): WriteOperation =>
    ({ ...asNested(part, withDependents(part, operation)), step })
  const own = parts.flatMap((part, step) => operationsOf(part, time).map(toStep(part, step)))
  return [...lockTargets(parts), ...own]
}

/** Locks the rows of all parts in the order of their tables and keys, so that two batches do not wait for each other. */
function lockTargets(parts: readonly WritePart[]): readonly WriteOperation[] {
  const found = parts.flatMap(part => part.items.filter(({ row }) => row).map(item => ({ part, item })))
  const linked = parts.flatMap(({ links }) => links ? links.locks().map(operation => ({ table: links.lockedTable, operation })) : [])
  if (found.length + linked.length < 2 || !parts[0]!.call.engine.concurrent) return []
  const byTable = groupBy(found, ({ part }) => part.plan.resource.facts.name)
  const locks = [...[...byTable].map(([table, rows]) => ({ table, operation: lockOf(rows) })), ...linked]
  return locks.sort((a, b) => a.table < b.table ? -1 : Number(a.table > b.table)).map(({ operation }) => operation)
}

function lockOf(rows: readonly { readonly part: WritePart, readonly item: Item }[]): WriteOperation {
  const { plan: { resource, ...plan }, call } = rows[0]!.part
  const items = [...new Map(rows.map(({ item }) => [tupleKey(item.key!), item])).values()]
  const lock = selectStatement(call, resource, [keysClause({ ...plan, resource }, items, call)], keyFields(resource), 'update')
  return { statement: { ...lock, expectedRows: undefined }, phase: 'lock' }
}

/** Plugins tell the children in a body from the record itself. */
const asNested = ({ items: [first], links }: WritePart, operation: WriteOperation): WriteOperation =>
  first?.place && operation.changes && !operation.changes.cascaded
    ? { ...operation, changes: { ...operation.changes, nested: true, ...links && { relation: links.relation } } }
    : operation

/** Milliseconds. After this time, no further part is tried. */
const MAX_DURATION = 5_000

/**
 * Finds the items that fail, as if each were a request of its own: the next ones are tried without a failed one.
 * @returns the error of a single record, or `BULK_FAILED`
 */
async function toStepsError(parts: readonly WritePart[], failure: CommitFailed): Promise<unknown> {
  if (isBusy(failure.reason)) return failure.reason
  const deadline = Date.now() + MAX_DURATION
  const kept: WritePart[] = []
  const failures: ItemFailure[] = []
  for (const part of parts) {
    if (Date.now() > deadline) break
    const error = await findError(kept, part)
    if (error === undefined) kept.push(part)
    else if (error === MISSING && part.items[0]!.place) continue
    else if (part.links) failures.push(await findReason(part.links, error))
    else if (part.items.length === 1) failures.push(failureOf(part.items[0]!, error))
    else failures.push(...await findInPart(kept, part, deadline))
  }
  const reported = itemsOf(parts).filter(({ index }) => index === failure.item).map(item => failureOf(item, failure.reason))
  const found = failures.length > 0 ? failures : reported
  return parts[0]!.plan.bulk ? bulkFailed('rolled back', inOrder(found), failure.reason) : found[0]?.error ?? failure.reason
}

async function findReason(links: NonNullable<WritePart['links']>, reason: unknown): Promise<ItemFailure> {
  const item = await links.findReason(reason)
  return failureOf(item, item.error)
}

/** Tries the items of a part one after another. Those that pass are kept. */
async function findInPart(kept: WritePart[], part: WritePart, deadline: number): Promise<readonly ItemFailure[]> {
  const failures: ItemFailure[] = []
  const passing: Item[] = []
  for (const item of part.items) {
    if (Date.now() > deadline) break
    const error = await findError(kept, { ...part, items: [...passing, item], written: new Map() })
    if (error === undefined) passing.push(item)
    // The failure of the parent is enough.
    else if (error !== MISSING || !item.place) failures.push(failureOf(item, error))
  }
  if (passing.length > 0) kept.push({ ...part, items: passing, written: new Map() })
  return failures
}

async function findError(kept: readonly WritePart[], part: WritePart): Promise<unknown> {
  const needed = part.items.flatMap(({ late, lateKey }) => [...late?.values() ?? [], ...lateKey ? [lateKey] : []])
  const isKept = (item: Item) => kept.some(({ items }) => items.includes(item))
  if (needed.some(({ item }) => !isKept(item))) return MISSING
  const failure = await tryPart(kept, part)
  if (!failure) return undefined
  const { items } = part
  // A row that is not there is refused before its references and its conditions. The earlier parts decide whether it is there.
  const { expectation, reason } = failure
  const conditions = items.flatMap(({ conditions = [] }) => conditions)
  if (expectation !== 'reference' && (expectation !== 'row' || conditions.length === 0)) return reason
  const plain = { ...part, items: items.map(item => ({ ...item, references: undefined, conditions: undefined })) }
  const missing = await tryPart(kept, plain)
  return missing?.expectation === 'row' ? missing.reason : expectation === 'row' ? conditions.at(-1)!.error() : reason
}

async function tryPart(kept: readonly WritePart[], part: WritePart): Promise<CommitFailed | undefined> {
  // A synchronous driver would block other requests.
  await yieldToEventLoop()
  const failure = await tryOperations(part.plan, operationsInOrder([...kept, part], new Date()), part.call)
  if (failure && isBusy(failure.reason)) throw failure.reason
  return failure
}

export const refersToFailed = (): ApiError => invalidBody('`$ref` names a step that has failed.')

const MISSING = refersToFailed()
