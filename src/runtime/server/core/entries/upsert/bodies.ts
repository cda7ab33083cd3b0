/** The records of an upsert: their bodies, and the key of each. */
import { isObject } from '../../../../shared/is-object'
import { INVALID } from '../../../schema/field'
import { ApiError } from '../../error'
import { parseItem, type WriteItem } from '../../parse/write'
import { createTurns } from '../../process/turns'
import type { Call } from '../../request/session'
import type { Tuple } from '../../sql/list/list-sql'
import type { UpsertKey } from './existing'

export interface Upsert {
  readonly creating: Call
  readonly updating: Call
  /** Without a key, all records are created. */
  readonly key?: UpsertKey | undefined
  readonly bulk: boolean
  /** The bodies as JSON, or an error for a record that cannot be read. A value that a CSV file leaves out is `undefined`. */
  readonly records: readonly unknown[]
}

type Kind = 'create' | 'update'

/** Milliseconds. The client's records arrive beside the writes of others, so the turns are shorter than those of a response. */
export const TURN = 5

/** Returns the parsed body of a record, or the error of the record. */
export type Bodies = (index: number, kind: Kind) => Promise<WriteItem>

/** Each body is parsed once for a kind of write. */
export function createBodies({ records, creating, updating }: Upsert): Bodies {
  const parsed = new Map<string, Promise<WriteItem>>()
  return (index, kind) => {
    const record = records[index]
    const parse = async () => record instanceof ApiError
      ? { error: record }
      : parseItem(toBody(record, kind), kind === 'update' ? updating : creating, kind)
    const id = `${kind} ${index}`
    const item = parsed.get(id) ?? parse()
    parsed.set(id, item)
    return item
  }
}

/** Leaves `undefined` out of a create: the schema can have a default. An update sets NULL, which is a problem of the record. */
function toBody(record: unknown, kind: Kind): unknown {
  if (!isObject(record)) return record
  const entries = Object.entries(record)
  const hasValue = ([, value]: readonly [string, unknown]) => value !== undefined
  if (entries.every(hasValue)) return record
  return Object.fromEntries(kind === 'update' ? entries.map(([name, value = null]) => [name, value]) : entries.filter(hasValue))
}

/** The driver values of each key, or `undefined` for a key with NULL or a value that does not fit. Validation reports the latter. */
export async function tuplesOf({ fields }: UpsertKey, { records, creating }: Upsert, bodies: Bodies) {
  const { schemas } = creating.resource
  const isOfApp = !schemas.create.generated || !schemas.update.generated
  const pause = createTurns(TURN)
  const tuples: (Tuple | undefined)[] = []
  for (const [index, record] of records.entries()) {
    await pause()
    const values = isObject(record) && !(record instanceof ApiError) ? valuesOf(record, fields) : []
    // A schema of the app can change a value, for example to lower case. A record that is valid as an update needs not be one as a create.
    if (isOfApp && values.length > 0) {
      for (const kind of ['update', 'create'] as const) {
        const { data } = await bodies(index, kind)
        if (data) fields.forEach(({ name }, position) => {
          if (Object.hasOwn(data.values, name)) values[position] = data.values[name]
        })
      }
    }
    const isKey = values.length > 0 && values.every(value => value !== null && value !== undefined && value !== INVALID)
    tuples.push(isKey ? values.map((value, position) => fields[position]!.encode(value)) : undefined)
  }
  return tuples
}

const valuesOf = (record: object, fields: UpsertKey['fields']): unknown[] => fields.map(({ name, fromJson }) => {
  const value = (record as Readonly<Record<string, unknown>>)[name]
  return value === null || value === undefined ? INVALID : fromJson(value)
})
