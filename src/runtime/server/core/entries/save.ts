/** Creates and updates many records in one commit, for plugins: with the rules of bulk requests. */
import { replicaCallOn } from './call'
import type { Awaitable } from '../awaitable'
import { INVALID, type Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import type { AutoApiContext } from '../../registration'
import { authorize, authorizeAny } from '../access/authorize'
import { readableFields, requireField, select } from '../access/fields'
import { applyScope, within, withReadable, type Scoped } from '../access/row-scope'
import type { Call } from '../request/session'
import { ApiError, conflict, invalidQuery, preconditionRequired } from '../error'
import { itemContexts } from '../write/hooks'
import { toItems } from '../write/items'
import { toPart, type WritePart } from '../write/parts'
import { runWrite } from '../write/run'
import { toRequestError } from '../read/rows/invalid-value'
import { valuesAt } from '../read/rows/decode'
import { readRows } from '../read/rows/rows'
import { bulkFailed, type ItemFailure } from '../write/bulk-error'
import { parseItem, type WriteItem } from '../parse/write'
import type { ReadPlan } from '../plan/read-plan'
import { planCreate, planUpdate, type WritePlan } from '../plan/write'
import { inTuples } from '../sql/list/index'
import { tupleKey } from '../sql/tuple-key'
import { createTurns } from '../process/turns'

export interface SaveOptions {
  /**
   * The fields that find existing records, which are then updated. Every other record is created, also one whose key contains NULL.
   * Without a key, all records are created.
   */
  readonly key?: readonly string[]
}

export interface SaveCounts {
  readonly created: number
  readonly updated: number
}

/**
 * Creates and updates records in one commit: all of them, or none. Each record has the rules of an item of a bulk request. In a dry run,
 * the commit is rolled back, and after-hooks do not run.
 * @param records the bodies as JSON, or an error for a record that cannot be read. They are read after the caller is authorized. A value is
 * `undefined` if it is missing and its column has no default: an update is then refused.
 * @throws 401 and 403 for an operation that a record needs, `BULK_FAILED` with the failed records by index
 */
export type SaveRecords = (
  ctx: Pick<AutoApiContext, 'event'>,
  resource: string,
  records: Iterable<GivenRecord> | AsyncIterable<GivenRecord>,
  options?: SaveOptions,
) => Promise<SaveCounts>

type GivenRecord = Readonly<Record<string, unknown>> | ApiError

export const saveRecords: SaveRecords = async (ctx, name, given, { key } = {}) => {
  const [creating, updating] = [replicaCallOn(ctx, name, 'create'), replicaCallOn(ctx, name, 'update')]
  await authorizeSave(creating, key !== undefined)
  const keyFields = key && await keyFieldsOf(key, updating)
  const records: GivenRecord[] = []
  const pause = createTurns(TURN)
  for await (const record of given) {
    await pause()
    records.push(record)
  }
  const { resource } = updating
  const { found, ambiguous } = keyFields ? await findExisting(records, keyFields, updating) : NOTHING
  if (ambiguous.length > 0) {
    await authorize(updating, resource, ['update'])
    throw bulkFailed('nothing was written', ambiguous)
  }
  const indexes = { create: [] as number[], update: [] as number[] }
  const items = { create: [] as WriteItem[], update: [] as WriteItem[] }
  for (const [index, record] of records.entries()) {
    await pause()
    const existing = found.get(index)
    const kind = existing ? 'update' : 'create'
    // A record of a bulk request has a tag for this. A record of this function has none.
    const isTagMissing = kind === 'update' && resource.requireIfMatch
    const error = record instanceof ApiError ? record : existing?.error ?? (isTagMissing ? preconditionRequired() : undefined)
    const parsed: WriteItem = error ? { error } : await parseItem(toBody(record, kind), kind === 'update' ? updating : creating, kind)
    indexes[kind].push(index)
    items[kind].push(existing?.key ? { ...parsed, key: existing.key } : parsed)
  }
  const parts: WritePart[] = []
  if (items.update.length > 0) {
    await authorize(updating, resource, ['update'])
    const plan = await planUpdate({ items: items.update, bulk: true }, updating)
    parts.push({ ...await partOf(plan, indexes.update, updating), isFound: true })
  }
  if (items.create.length > 0) {
    await authorize(creating, resource, ['create'])
    parts.push(await partOf(await planCreate({ items: items.create, bulk: true }, creating), indexes.create, creating))
  }
  try {
    if (parts.length > 0) await runWrite(parts)
  }
  catch (error) {
    throw parts[0] ? await toRequestError(error, parts[0].plan, parts[0].call) : error
  }
  return { created: items.create.length, updated: items.update.length }
}

/** Leaves `undefined` out of a create: the schema can have a default. An update sets NULL, which is a problem of the record. */
function toBody(record: GivenRecord, kind: 'create' | 'update'): GivenRecord {
  const entries = Object.entries(record)
  const hasValue = ([, value]: readonly [string, unknown]) => value !== undefined
  if (entries.every(hasValue)) return record
  return Object.fromEntries(kind === 'update' ? entries.map(([name, value = null]) => [name, value]) : entries.filter(hasValue))
}

/** Milliseconds. The client's records arrive beside the writes of others, so the turns are shorter than those of a response. */
const TURN = 5

/** The records decide which operations are needed. A caller who can do none of them is refused before the records are read. */
function authorizeSave(call: Call, isUpsert: boolean): Awaitable<void> {
  return isUpsert ? authorizeAny(call, ['create', 'update']) : authorize(call, call.resource, ['create'])
}

async function partOf(plan: WritePlan, indexes: readonly number[], call: Call): Promise<WritePart> {
  const scoped = await applyScope<WritePlan>(call, { ...plan, atomic: true })
  const items = toItems(scoped, itemContexts(scoped, call)).map((item, position) => ({ ...item, index: indexes[position]! }))
  return toPart(scoped, call, items)
}

/** @throws `UNKNOWN_FIELD`, `INVALID_QUERY` for a field whose values cannot be compared exactly. */
async function keyFieldsOf(names: readonly string[], call: Call): Promise<readonly Field[]> {
  const readable = await readableFields(call)
  const fields = names.map(name => requireField(readable, name, 'key'))
  const computed = fields.find(({ stored }) => !stored)
  if (computed) throw invalidQuery(`\`key\`: \`${computed.name}\` is a computed field, which no record contains before it is saved.`, 'key')
  const inexact = fields.find(field => !EXACT.has(field.kind) && !call.resource.primaryKey.includes(field))
  if (inexact) throw invalidQuery(`\`key\`: \`${inexact.name}\` is no text and no whole number, so it cannot identify a record.`, 'key')
  return fields
}

const EXACT: ReadonlySet<Field['kind']> = new Set<Field['kind']>(['text', 'integer', 'bigint'])

/** The record that a given record updates, or why it cannot be updated. */
interface Existing {
  readonly key?: NonNullable<WriteItem['key']>
  readonly error?: ApiError
}

interface ExistingRecords {
  readonly found: ReadonlyMap<number, Existing>
  /** The lines with a key that several records have. Only set if the keys match too many records to read all. Then `found` is empty. */
  readonly ambiguous: readonly ItemFailure[]
}

const NOTHING: ExistingRecords = { found: new Map(), ambiguous: [] }

/** Finds the existing records by index. One statement reads all of them. */
async function findExisting(records: readonly GivenRecord[], keyFields: readonly Field[], call: Call): Promise<ExistingRecords> {
  const { resource } = call
  const indexesOf = new Map<string, { readonly tuple: readonly unknown[], readonly indexes: number[] }>()
  for (const [index, record] of records.entries()) {
    const tuple = record instanceof ApiError ? undefined : keyOf(record, keyFields)
    if (!tuple) continue
    const text = tupleKey(tuple)
    const known = indexesOf.get(text)
    if (known) known.indexes.push(index)
    else indexesOf.set(text, { tuple, indexes: [index] })
  }
  if (indexesOf.size === 0) return NOTHING
  const { rows, isComplete } = await readExisting(resource, keyFields, [...indexesOf.values()].map(({ tuple }) => tuple), call)
  const names = keyFields.map(({ name }) => name)
  const several = () => conflict('Several records have this key.', names)
  if (!isComplete) {
    const keys = [...indexesOf.keys()]
    const known = keys.filter(text => (rows.get(text)?.length ?? 0) > 1)
    // The database can return a key in another spelling, such as padded text. Then each of the records can be the one.
    const indexes = (known.length > 0 ? known : keys).flatMap(text => indexesOf.get(text)!.indexes)
    return { ...NOTHING, ambiguous: indexes.sort((a, b) => a - b).map(index => ({ index, error: several() })) }
  }
  const found = new Map<number, Existing>()
  for (const [text, { indexes }] of indexesOf) {
    const known = rows.get(text) ?? []
    const error = indexes.length > 1 ? conflict('The same key is given more than once.', names) : known.length > 1 ? several() : undefined
    for (const index of indexes) if (error ?? known[0]) found.set(index, error ? { error } : { key: known[0]! })
  }
  return { found, ambiguous: [] }
}

/** The driver values of the key, or `undefined` for a key with NULL or a value that does not fit. Validation reports the latter. */
function keyOf(record: Readonly<Record<string, unknown>>, keyFields: readonly Field[]): readonly unknown[] | undefined {
  const values = keyFields.map(({ name, fromJson }) => {
    const value = record[name]
    return value === null || value === undefined ? INVALID : fromJson(value)
  })
  return values.includes(INVALID) ? undefined : values.map((value, index) => keyFields[index]!.encode(value))
}

interface KeyedRows {
  readonly rows: ReadonlyMap<string, readonly NonNullable<WriteItem['key']>[]>
  /** It is false if more rows than keys exist. Then some key has several rows, and `rows` contains at least one such key. */
  readonly isComplete: boolean
}

/**
 * Reads the primary keys of the records that the caller can update or read, by the text of their key. A row that the caller can do neither
 * with counts as missing, so that the rest of the request cannot depend on it. It reads at most one row more than there are keys, because a
 * key such as a status can have any number of rows.
 */
async function readExisting(
  resource: Resource, keyFields: readonly Field[], tuples: readonly (readonly unknown[])[], call: Call,
): Promise<KeyedRows> {
  const plan: Scoped<WritePlan> = await applyScope(call, await planUpdate({ items: [], bulk: true }, call), 'update')
  const selection = select(resource, field => keyFields.includes(field) || resource.primaryKey.includes(field))
  const where = [inTuples(call.engine, keyFields, tuples)]
  const read = within<WritePlan, ReadPlan>(withReadable(plan), { selection, where, order: [], count: false })
  const found = new Map<string, NonNullable<WriteItem['key']>[]>()
  const limit = tuples.length + 1
  let count = 0
  try {
    const { columns, rows } = await readRows(read, { limit }, call)
    const [keyValues, idValues] = [valuesAt(columns, keyFields), valuesAt(columns, resource.primaryKey)]
    for (const row of rows) {
      const text = tupleKey(keyValues(row))
      const id = idValues(row).map((raw, index) => resource.primaryKey[index]!.decode?.(raw) ?? raw)
      const known = found.get(text)
      if (known) known.push(id)
      else found.set(text, [id])
      count++
    }
  }
  catch (error) {
    throw await toRequestError(error, plan, call)
  }
  return { rows: found, isComplete: count < limit }
}
