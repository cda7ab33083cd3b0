/** The commit of several writes, one after another: each part sees what the parts before it have written. */
import type { ApiError } from '../error'
import { changedMeanwhile, invalidBody, isBusy } from '../error'
import { groupBy } from '../../../shared/group-by'
import type { Resource } from '../../schema/model'
import { keyFields } from '../access/fields'
import type { Call } from '../request/session'
import { tryOperations } from '../commit/commit'
import type { CommitFailed } from '../commit/failure'
import type { WriteOperation } from '../commit/operation'
import { selectStatement } from '../commit/select'
import { yieldToEventLoop } from '../process/turns'
import { bulkFailed, type ItemFailure } from './bulk-error'
import { operationsOf, recheckTarget, type CommitRules } from './commit-parts'
import type { Item } from './items'
import { judgeAgain } from './judge-again'
import { isOfCommit, withDependents } from './late'
import { failureOf, inOrder, itemsOf, stopOnFailure, type WritePart } from './parts'
import { or } from '../sql/conditions'
import { inUniqueKeys } from '../sql/list/index'
import { tupleKey } from '../sql/tuple-key'
import type { Where } from '../sql/where'

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

/**
 * Locks the rows that the parts name, and those that they reference, in the order of their tables and keys, so that two batches do not wait
 * for each other.
 */
function lockTargets(parts: readonly WritePart[]): readonly WriteOperation[] {
  const { call } = parts[0]!
  if (!call.engine.concurrent) return []
  const linked = parts.flatMap(({ links }) => links ? links.locks().map(operation => ({ table: links.lockedTable, operation })) : [])
  const found = [...parts.flatMap(namedRows), ...itemsOf(parts).flatMap(referencedRows)]
  if (found.length + linked.length < 2) return []
  const byTable = groupBy(found, ({ resource }) => resource.facts.name)
  const locks = [...[...byTable].map(([table, rows]) => ({ table, operation: lockOf(rows, call) })), ...linked]
  return locks.sort((a, b) => a.table < b.table ? -1 : Number(a.table > b.table)).map(({ operation }) => operation)
}

/** A row by the driver values of its key. */
interface LockedRow {
  readonly resource: Resource
  readonly key: readonly unknown[]
  /** Of a row that is only referenced: the row scope in which the commit looks for it. */
  readonly scope?: readonly Where[]
}

const namedRows = ({ plan: { resource }, items }: WritePart): readonly LockedRow[] =>
  items.flatMap(({ row, key }) => row ? [{ resource, key: key!.map((value, at) => resource.primaryKey[at]!.encode(value)) }] : [])

/** Of a row that the commit creates, no key is known. Rows that are referenced by another key are locked when the reference is checked. */
const referencedRows = ({ references = [] }: Item): readonly LockedRow[] =>
  references.flatMap(({ target: { plan: { resource, scope }, fields }, values }) => {
    const at = resource.primaryKey.map(({ name }) => fields.findIndex(field => field.name === name))
    const isByKey = at.length === fields.length && !at.includes(-1) && !values.some(isOfCommit)
    return isByKey ? [{ resource, key: at.map(index => values[index]), scope }] : []
  })

/** `select id from t where id in (…) or (id in (…) and …) order by id for update`: one statement, because only its order is certain. */
function lockOf(rows: readonly LockedRow[], call: Call): WriteOperation {
  const { resource } = rows[0]!
  const [named, referenced] = [rows.filter(({ scope }) => !scope), rows.filter(({ scope }) => scope)]
  const keysOf = (rows: readonly LockedRow[]) =>
    inUniqueKeys(call.engine, resource.primaryKey, [...new Map(rows.map(({ key }) => [tupleKey(key), key])).values()])
  const branches = [[keysOf(named)], [keysOf(referenced), ...referenced[0]?.scope ?? []]]
  const where = named.length === 0 ? branches[1]! : referenced.length === 0 ? branches[0]! : [or(branches)]
  const lock = selectStatement(call, resource, where, keyFields(resource), named.length === 0 ? 'share' : 'update')
  return { statement: { ...lock, expectedRows: undefined }, phase: 'lock' }
}

/** Plugins tell the children in a body from the record itself. */
const asNested = ({ items: [first], links }: WritePart, operation: WriteOperation): WriteOperation =>
  first?.place && operation.changes && !operation.changes.cascaded
    ? { ...operation, changes: { ...operation.changes, nested: true, ...links && { relation: links.relation } } }
    : operation

/** What the search for the failed items has found so far. */
interface Found {
  /** The parts that pass together. */
  readonly kept: WritePart[]
  readonly failures: ItemFailure[]
}

/** Milliseconds. After this time, no further part is tried. */
const MAX_DURATION = 5_000

/**
 * Finds the items that fail, as if each were a request of its own: the next ones are tried without a failed one.
 * @returns the error of a single record, or `BULK_FAILED`
 */
async function toStepsError(parts: readonly WritePart[], failure: CommitFailed): Promise<unknown> {
  if (isBusy(failure.reason)) return failure.reason
  const deadline = Date.now() + MAX_DURATION
  const found: Found = { kept: [], failures: [] }
  const { kept, failures } = found
  for (const part of parts) {
    if (Date.now() > deadline) break
    const error = await findError(found, part)
    if (error === undefined) kept.push(part)
    else if (error === MISSING && part.items[0]!.place) continue
    else if (part.links) failures.push(await findReason(part.links, error))
    else if (part.items.length === 1) failures.push(failureOf(part.items[0]!, error))
    else failures.push(...await findInPart(found, part, deadline))
  }
  const shown = failures.length > 0 ? failures : await findReported(parts, failure)
  return parts[0]!.plan.bulk ? bulkFailed('rolled back', inOrder(shown), failure.reason) : shown[0]?.error ?? failure.reason
}

/** Returns the item that the failed commit names. It is reported if every item succeeds when it is tried. */
async function findReported(parts: readonly WritePart[], failure: CommitFailed): Promise<readonly ItemFailure[]> {
  const reported = parts.flatMap(part => part.items.filter(({ index }) => index === failure.item).map(item => ({ part, item })))
  return Promise.all(reported.map(async ({ part: { plan, call }, item }) =>
    failureOf(item, await recheckTarget(plan, item, failure, call))))
}

async function findReason(links: NonNullable<WritePart['links']>, reason: unknown): Promise<ItemFailure> {
  const item = await links.findReason(reason)
  return failureOf(item, item.error)
}

/** Tries the items of a part one after another. Those that pass are kept. */
async function findInPart(found: Found, part: WritePart, deadline: number): Promise<readonly ItemFailure[]> {
  const failures: ItemFailure[] = []
  const passing: Item[] = []
  for (const item of part.items) {
    if (Date.now() > deadline) break
    const error = await findError(found, { ...part, items: [...passing, item], written: new Map() })
    if (error === undefined) passing.push(item)
    // The failure of the parent is enough.
    else if (error !== MISSING || !item.place) failures.push(failureOf(item, error))
  }
  if (passing.length > 0) found.kept.push({ ...part, items: passing, written: new Map() })
  return failures
}

async function findError(found: Found, part: WritePart): Promise<unknown> {
  const needed = part.items.flatMap(({ late, lateKey }) => [...late?.values() ?? [], ...lateKey ? [lateKey] : []])
  const isKept = (item: Item) => found.kept.some(({ items }) => items.includes(item))
  if (needed.some(({ item }) => !isKept(item))) return MISSING
  const failure = await tryPart(found, part)
  if (!failure) return undefined
  const { items } = part
  // A row that is not there is refused before its references and its conditions. The earlier parts decide whether it is there.
  const { expectation, reason } = failure
  const conditions = items.flatMap(({ conditions = [] }) => conditions)
  const isLimited = conditions.length > 0 || items.some(({ unchangedKeys }) => unchangedKeys)
  if (expectation !== 'reference' && (expectation !== 'row' || !isLimited)) return reason
  const plain = { ...part, items: items.map(item => ({ ...item, references: undefined, conditions: undefined, unchangedKeys: undefined })) }
  const missing = await tryPart(found, plain)
  if (missing?.expectation === 'row') return missing.reason
  return expectation === 'row' ? conditions.at(-1)?.error() ?? changedMeanwhile() : reason
}

/** If a part that passed before fails now, another request has changed its row meanwhile: the part is no longer kept. */
async function tryPart({ kept, failures }: Found, part: WritePart): Promise<CommitFailed | undefined> {
  for (;;) {
    // A synchronous driver would block other requests.
    await yieldToEventLoop()
    const failure = await tryOperations(part.plan, operationsInOrder([...kept, part], new Date()), part.call)
    if (failure && isBusy(failure.reason)) throw failure.reason
    if (failure?.item === undefined) return failure
    const failed = ({ items }: WritePart) => items.filter(({ index }) => index === failure.item)
    const at = failed(part).length > 0 ? -1 : kept.findIndex(other => failed(other).length > 0)
    if (at === -1) return failure
    const [changed] = kept.splice(at, 1) as [WritePart]
    const error = await findError({ kept: kept.slice(0, at), failures: [] }, changed) ?? failure.reason
    failures.push(...failed(changed).map(item => failureOf(item, error)))
  }
}

export const refersToFailed = (): ApiError => invalidBody('`$ref` names a step that has failed.')

const MISSING = refersToFailed()
