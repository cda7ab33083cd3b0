/** Rows of a resource as values of a statement: as they were stored, in the place of its table. */
import { sql, type Table } from 'drizzle-orm'
import { sqlTypeOf, typeOf } from '../../drizzle/index'
import { isScalar } from '../../engines/driver-scalar'
import type { Engine, Row } from '../../engines/engine'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import { memoized } from '../memoized'
import { createAttached } from '../process/request-scoped'
import { boundDriverValue } from '../sql/conditions'
import { asSql, commaList, where, type Part, type Where } from '../sql/where'
import type { RecordValues } from './rows/decode'

export const storedFields = memoized((resource: Resource): readonly Field[] => [...resource.fields.values()].filter(({ stored }) => stored))

/** `posts.id as id, …` */
export const storedColumns = memoized((resource: Resource): Where =>
  commaList(storedFields(resource).map(({ column }) => where`${column} as ${sql.identifier(column.name)}`)))

const driverRows = createAttached<Row>('row of the driver')

/** Keeps the driver's row of a record with every column: a custom type can convert values of the driver, but not always back. */
export function keepRow(record: RecordValues, row: Row): RecordValues {
  driverRows.set(record, row)
  return record
}

/** The values of a row in the order of {@link storedColumns}. */
export function storedValues({ adapter }: Engine, resource: Resource, record: RecordValues): readonly Part[] {
  const row = driverRows.get(record)
  return storedFields(resource).map((field, index) => {
    const encoded = encodeStored(field, record[field.name] ?? null, row?.[index])
    return adapter.asStored(asSql(boundDriverValue(field, encoded)), field.column)
  })
}

/** @param raw what the driver has returned */
function encodeStored(field: Field, value: unknown, raw: unknown): unknown {
  const { column, encode } = field
  if (raw === undefined || raw === null || !typeOf(column).endsWith('CustomColumn')) return encode(value)
  // Drivers parse JSON. SQLite has no such type.
  if (/^jsonb?$/i.test(sqlTypeOf(column)) && !typeOf(column).startsWith('SQLite')) return JSON.stringify(raw)
  if (isScalar(raw)) return raw
  try {
    return encode(value)
  }
  catch {
    // Drivers accept the lists that they return.
    return raw
  }
}

export const schemaOf = (table: Table) => (table as unknown as Record<symbol, string | undefined>)[Symbol.for('drizzle:Schema')]
