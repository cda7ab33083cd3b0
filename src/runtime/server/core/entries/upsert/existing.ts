/** Finds the records that an upsert updates: those with the key of a given record that the caller can update or read. */
import type { Field } from '../../../schema/field'
import type { Key } from '../../../schema/record-id'
import { select } from '../../access/fields'
import { applyScope, within, withReadable, type Scoped } from '../../access/row-scope'
import { conflict, type ApiError } from '../../error'
import type { ReadPlan } from '../../plan/read-plan'
import { planUpdate, type WritePlan } from '../../plan/write'
import { valuesAt } from '../../read/rows/decode'
import { toRequestError } from '../../read/rows/invalid-value'
import { readRows } from '../../read/rows/rows'
import type { Call } from '../../request/session'
import { inTuples } from '../../sql/list/index'
import type { Tuple } from '../../sql/list/list-sql'
import { tupleKey } from '../../sql/tuple-key'
import type { Where } from '../../sql/where'

/** The fields that find existing records. */
export interface UpsertKey {
  readonly fields: readonly Field[]
  /** Further conditions that an existing record meets. */
  readonly where: readonly Where[]
  /** Whether a new record can have the key of the request. A generated key is another one. */
  readonly isSettable: boolean
}

/** The record that a given record updates, or why it cannot be updated. */
export interface Existing {
  readonly exists: boolean
  readonly key?: Key
  readonly error?: ApiError
}

/** By the index of the given record. */
export type ExistingRecords = ReadonlyMap<number, Existing>

/**
 * Finds the existing records with one statement.
 * @param tuples the driver values of the key of each given record, or `undefined` for a record without one
 */
export async function findExisting(tuples: readonly (Tuple | undefined)[], key: UpsertKey, call: Call): Promise<ExistingRecords> {
  const given = new Map<string, { readonly tuple: Tuple, readonly indexes: number[] }>()
  for (const [index, tuple] of tuples.entries()) {
    if (!tuple) continue
    const text = tupleKey(tuple)
    const known = given.get(text)
    if (known) known.indexes.push(index)
    else given.set(text, { tuple, indexes: [index] })
  }
  if (given.size === 0) return new Map()
  const { rows, isComplete } = await readExisting(key, [...given.values()].map(({ tuple }) => tuple), call)
  const names = key.fields.map(({ name }) => name)
  const several = () => conflict('Several records have this key.', names)
  // The database can return a key in another spelling, such as padded text. Then each of the records can be the one.
  const isSeveral = isComplete || [...rows.values()].some(keys => keys.length > 1)
    ? (text: string) => (rows.get(text)?.length ?? 0) > 1
    : () => true
  const found = new Map<number, Existing>()
  for (const [text, { indexes }] of given) {
    const [key] = rows.get(text) ?? []
    const exists = key !== undefined || isSeveral(text)
    const error = indexes.length > 1 ? conflict('The same key is given more than once.', names) : isSeveral(text) ? several() : undefined
    for (const index of indexes) if (error ?? key) found.set(index, error ? { exists, error } : { exists, key: key! })
  }
  return found
}

interface KeyedRows {
  /** The primary keys, by the text of the key. */
  readonly rows: ReadonlyMap<string, readonly Key[]>
  /** It is false if more rows than keys exist. Then some key has several rows, and `rows` contains at least one such key. */
  readonly isComplete: boolean
}

/**
 * Reads the primary keys of the records that the caller can update or read. A row that the caller can do neither with counts as missing, so
 * that the rest of the request cannot depend on it. It reads at most one row more than there are keys, because a key such as a status can
 * have any number of rows.
 */
async function readExisting({ fields, where: conditions }: UpsertKey, tuples: readonly Tuple[], call: Call): Promise<KeyedRows> {
  const { resource } = call
  const plan: Scoped<WritePlan> = await applyScope(call, await planUpdate({ items: [], bulk: true }, call), 'update')
  const selection = select(resource, field => fields.includes(field) || resource.primaryKey.includes(field))
  const where = [inTuples(call.engine, fields, tuples), ...conditions]
  const read = within<WritePlan, ReadPlan>(withReadable(plan), { selection, where, order: [], count: false })
  const found = new Map<string, Key[]>()
  const limit = tuples.length + 1
  let count = 0
  try {
    const { columns, rows } = await readRows(read, { limit }, call)
    const [keyValues, idValues] = [valuesAt(columns, fields), valuesAt(columns, resource.primaryKey)]
    for (const row of rows) {
      const text = tupleKey(keyValues(row).map((raw, index) => toWritten(fields[index]!, raw)))
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

/** A driver can return a value in another form than that in which it is written, such as a time. */
const toWritten = ({ decode, encode }: Field, raw: unknown): unknown => decode ? encode(decode(raw)) : raw
