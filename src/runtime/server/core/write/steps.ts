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
import type { Item, LateReference } from './items'
import { judgeAgain } from './judge-again'
import { withDependents } from './late'
import { itemsOf, stopOnFailure, type WritePart } from './parts'
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
  const own = parts.flatMap((part, step) => operationsOf(part, time).map(operation => ({ ...withDependents(part, operation), step })))
  return [...lockTargets(parts), ...own]
}

/** Locks the rows of all parts in the order of their tables and keys, so that two batches do not wait for each other. */
function lockTargets(parts: readonly WritePart[]): readonly WriteOperation[] {
  const found = parts.flatMap(part => part.items.filter(({ row }) => row).map(item => ({ part, item })))
  if (found.length < 2 || !found[0]!.part.call.engine.concurrent) return []
  const byTable = [...groupBy(found, ({ part }) => part.plan.resource.facts.name)].sort(([a], [b]) => a < b ? -1 : 1)
  return byTable.map(([, rows]): WriteOperation => {
    const { plan: { resource, ...plan }, call } = rows[0]!.part
    const items = [...new Map(rows.map(({ item }) => [tupleKey(item.key!), item])).values()]
    const lock = selectStatement(call, resource, [keysClause({ ...plan, resource }, items, call)], keyFields(resource), 'update')
    return { statement: { ...lock, expectedRows: undefined }, phase: 'lock' }
  })
}

/** Milliseconds. After this time, no further part is tried. */
const MAX_DURATION = 5_000

/** Finds the parts that fail, as if each were a request of its own: the next parts are tried without a failed one. */
async function toStepsError(parts: readonly WritePart[], failure: CommitFailed): Promise<unknown> {
  if (isBusy(failure.reason)) return failure.reason
  const deadline = Date.now() + MAX_DURATION
  const kept: WritePart[] = []
  const failures: ItemFailure[] = []
  for (const part of parts) {
    if (Date.now() > deadline) break
    await yieldToEventLoop()
    const error = await findError(kept, part)
    if (error === undefined) kept.push(part)
    else for (const { index, id } of part.items) failures.push({ index, id, error, ctx: part.call.ctx })
  }
  return failures.length > 0
    ? bulkFailed('rolled back', failures)
    : bulkFailed('rolled back', itemsOf(parts).filter(({ index }) => index === failure.item).map(toFailure(failure)), failure.reason)
}

const toFailure = ({ reason }: CommitFailed) => ({ index, id, ctx }: Item): ItemFailure => ({ index, id, ctx, error: reason })

async function findError(kept: readonly WritePart[], part: WritePart): Promise<unknown> {
  const needed = part.items.flatMap(({ late, lateKey }) => [...late?.values() ?? [], ...lateKey ? [lateKey] : []])
  const known = new Set<LateReference['part']>(kept)
  if (needed.some(({ part }) => !known.has(part))) return refersToFailed()
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
  const failure = await tryOperations(part.plan, operationsInOrder([...kept, part], new Date()), part.call)
  if (failure && isBusy(failure.reason)) throw failure.reason
  return failure
}

export const refersToFailed = (): ApiError => invalidBody('`$ref` names a step that has failed.')
