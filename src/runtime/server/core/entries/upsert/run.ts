/** Creates and updates records in one commit: each record has the rules of an item of a bulk request. */
import { repeat } from '../../../engines/retry'
import { authorize } from '../../access/authorize'
import { applyScope } from '../../access/row-scope'
import { ApiError, changedMeanwhile, preconditionRequired } from '../../error'
import { withoutFields } from '../../parse/body'
import type { WriteItem } from '../../parse/write'
import { planCreate, planUpdate, type WritePlan } from '../../plan/write'
import { createTurns } from '../../process/turns'
import { toRequestError } from '../../read/rows/invalid-value'
import type { Call } from '../../request/session'
import { inTuples } from '../../sql/list/index'
import type { Tuple } from '../../sql/list/list-sql'
import { itemContexts } from '../../write/hooks'
import { toItems, type Item } from '../../write/items'
import { childParts, countFrom, hasChildren } from '../../write/nested'
import { toPart, type WritePart } from '../../write/parts'
import type { WriteResult } from '../../write/result'
import { runWrite } from '../../write/run'
import { STEPS } from '../../write/steps'
import { createBodies, tuplesOf, TURN, type Bodies, type Upsert } from './bodies'
import { findExisting, type Existing, type ExistingRecords } from './existing'

/**
 * Writes the records. If another request creates, deletes or renames a record with one of the keys meanwhile, the records are sorted into
 * new and existing ones again. Hooks do not run again for a record that stays in its group.
 * @returns a result for the updated records, and one for the created ones
 * @throws 401 and 403 for an operation that a record needs; the error of a single record, or `BULK_FAILED`
 */
export async function runUpsert(upsert: Upsert): Promise<readonly WriteResult[]> {
  const { key, updating } = upsert
  const bodies = createBodies(upsert)
  const tuples = key && await tuplesOf(key, upsert, bodies)
  const find = async (): Promise<ExistingRecords> => key && tuples ? findExisting(tuples, key, updating) : new Map()
  const hooked: Hooked = new Map()
  return repeat(async () => {
    const existing = await find()
    try {
      return await writeRecords({ ...upsert, existing, tuples, bodies, hooked })
    }
    catch (error) {
      throw key?.isSettable && canBeOutdated(error) && textOf(await find()) !== textOf(existing) ? new Outdated(error) : error
    }
  }, error => error instanceof Outdated, error => (error as Outdated).cause)
}

/** Another request has changed which records exist. */
class Outdated extends Error {
  constructor(override readonly cause: ApiError) {
    super('The records changed while they were written.', { cause })
  }
}

/** A record that exists by now is a 409 of its constraint. One that does not exist any more is a 404, or a 409 of its key. */
function canBeOutdated(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false
  const { errors = [] } = error.data as { readonly errors?: readonly { readonly statusCode: number }[] }
  return [error.status, ...errors.map(({ statusCode }) => statusCode)].some(status => status === 404 || status === 409)
}

const textOf = (existing: ExistingRecords) => JSON.stringify([...existing].map(([index, { key, error }]) =>
  [index, key ? key.map(String) : error!.message]))

/** The items of an earlier try whose before-hooks have run. */
type Hooked = Map<string, Item>

interface Attempt extends Upsert {
  readonly existing: ExistingRecords
  readonly tuples: readonly (Tuple | undefined)[] | undefined
  readonly bodies: Bodies
  readonly hooked: Hooked
}

async function writeRecords(attempt: Attempt): Promise<readonly WriteResult[]> {
  const { creating, updating, existing, records, bodies } = attempt
  const pause = createTurns(TURN)
  const indexes = { create: [] as number[], update: [] as number[] }
  const items = { create: [] as WriteItem[], update: [] as WriteItem[] }
  for (const index of records.keys()) {
    await pause()
    const found = existing.get(index)
    const kind = found?.exists ? 'update' : 'create'
    indexes[kind].push(index)
    items[kind].push(found ? await toUpdate(index, found, attempt) : await bodies(index, kind))
  }
  const parts: WritePart[] = []
  if (items.update.length > 0) {
    await authorize(updating, updating.resource, ['update'])
    const plan = await planUpdate({ items: items.update, bulk: attempt.bulk }, updating)
    parts.push({ ...await partOf(plan, indexes.update, updating, attempt), isFound: true })
  }
  if (items.create.length > 0) {
    await authorize(creating, creating.resource, ['create'])
    const plan = await planCreate({ items: items.create, bulk: attempt.bulk }, creating)
    parts.push(await partOf(plan, indexes.create, creating, attempt))
  }
  if (parts.length === 0) return []
  try {
    const listeners = { onCommitting: () => rememberHooks(parts, attempt.hooked) }
    if (!parts.some(({ plan }) => hasChildren(plan))) return await runWrite(parts, listeners)
    const next = countFrom(records.length)
    const all: WritePart[] = []
    for (const part of parts) all.push(part, ...await childParts(part, next))
    const results = await runWrite(all, listeners, STEPS)
    return parts.map(part => results[all.indexOf(part)]!)
  }
  catch (error) {
    throw await toRequestError(error, parts[0]!.plan, parts[0]!.call)
  }
}

/** The item is checked once more by its key, because another request can give that to another record. The key itself is not written. */
async function toUpdate(index: number, found: Existing, { updating, tuples, key, bodies }: Attempt): Promise<WriteItem> {
  const { resource, engine } = updating
  // An item of a bulk request has a tag for this. A record of an upsert has none.
  const error = found.error ?? (resource.requireIfMatch ? preconditionRequired() : undefined)
  if (error) return { error }
  const item = await bodies(index, 'update')
  const clauses = [inTuples(engine, key!.fields, [tuples![index]!]), ...key!.where]
  // The record has the values of the key already. A rule that forbids to write them does not apply.
  const data = item.data && withoutFields(item.data, name => key!.fields.some(field => field.name === name))
  return { ...item, ...data && { data }, key: found.key!, condition: { clauses, error: changedMeanwhile } }
}

async function partOf(plan: WritePlan, indexes: readonly number[], call: Call, { bulk, hooked }: Attempt): Promise<WritePart> {
  const scoped = await applyScope<WritePlan>(call, { ...plan, atomic: true })
  const items = toItems(scoped, itemContexts(scoped, call)).map((item, position): Item => {
    const index = bulk ? indexes[position]! : 0
    const known = hooked.get(`${plan.kind} ${index}`)
    return { ...item, index, ...known && { values: known.values, ctx: known.ctx, conditions: known.conditions, isHooked: true } }
  })
  return toPart(scoped, call, items)
}

function rememberHooks(parts: readonly WritePart[], hooked: Hooked): void {
  for (const { plan, items } of parts) for (const item of items) hooked.set(`${plan.kind} ${item.index}`, item)
}
