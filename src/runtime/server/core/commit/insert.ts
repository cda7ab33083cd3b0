/** Builds the statements of an insert. */
import { is, sql, SQL } from 'drizzle-orm'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { select, type Selection } from '../access/fields'
import { decoder } from '../read/rows/decode'
import { selectList } from '../read/rows/select'
import { columnName } from './columns'
import { selectStatement, type Returning } from './select'
import { boundDriverValue, boundValue, equals, sameBytes, whereClause } from '../sql/conditions'
import { asSql, commaList, constant, EMPTY, ValueRows, where, type Part, type Where } from '../sql/where'
import { statement } from '../sql/parameterize'
import type { Engine } from '../../engines/engine'
import { memoizedPair } from '../memoized'
import { unchanged } from '../../engines/dialects/column'

/** Describes the rows that an insert skips because they already exist. */
export interface Unless {
  /** The columns that identify a row. */
  readonly fields: readonly Field[]
  /**
   * If true, the table has a unique constraint over these columns. If false, the statement searches for an existing row, and the locks
   * of the commit prevent a concurrent insert.
   */
  readonly unique: boolean
  /** Conditions that an existing row must match too. The statement uses them only if `unique` is false. */
  readonly where: readonly Where[]
}

/** What has to hold for an insert. */
export interface InsertConditions {
  readonly unless?: Unless
  /** Conditions without which the statement inserts nothing. Only for a single row, on a dialect with RETURNING, and without `unless`. */
  readonly where?: readonly Where[]
}

/** A row to insert. */
export interface NewRow {
  readonly values: Readonly<Record<string, unknown>>
}

/**
 * Inserts rows that all set the same fields, in as few statements as possible. Without RETURNING, each statement inserts one row,
 * because the database reports the generated key of one row only. So does `default values`, for rows that set no field.
 */
export function insertStatements<Row extends NewRow>(
  call: Call,
  resource: Resource,
  rows: readonly Row[],
  selection: Selection,
  conditions: InsertConditions = {},
): { readonly statement: Returning, readonly rows: readonly Row[] }[] {
  const { returning } = call.engine.adapter
  const written = select(resource, ({ stored, name }) => stored && rows[0] !== undefined && Object.hasOwn(rows[0].values, name))
  const build = (chunk: readonly Row[]) => ({
    rows: chunk,
    statement: returning
      ? insertStatement(call, resource, written, chunk, selection, conditions)
      : insertOne(call, resource, written, chunk[0]!, selection, conditions.unless),
  })
  const size = returning && written.fields.length > 0 ? Math.max(1, Math.floor(call.engine.maxParameters / written.fields.length)) : 1
  if (rows.length > 0 && rows.length <= size) return [build(rows)]
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, index) => build(rows.slice(index * size, (index + 1) * size)))
}

/**
 * `insert into t (a, b) values (?, ?), … returning …`. With conditions, `insert into t (a, b) select ?, ? where … returning …`. With
 * `unless`, the statement skips existing rows: `… on conflict (a) do nothing`, or
 * `insert into t (a, b) select column1, column2 from (values …) as made where not exists (select 1 from t where a = column1)`.
 * `made` contains the new rows.
 */
function insertStatement(
  call: Call,
  resource: Resource,
  written: Selection,
  rows: readonly NewRow[],
  selection: Selection,
  { unless, where: conditions = [] }: InsertConditions,
): Returning {
  const { engine } = call
  const { fields } = written
  const isSelected = unless?.unique === false || conditions.length > 0
  const encoded = rows.map(({ values }) => fields.map(field => field.encode(values[field.name])))
  const partsOf = (row: readonly unknown[]) => commaList(row.map((value, index) => newValue(engine, fields[index]!, value, isSelected)))
  const listed = () => where`values ${isPlain(engine, written, isSelected) && !encoded.some(hasSql)
    ? new ValueRows(encoded)
    : commaList(encoded.map(row => where`(${partsOf(row)})`))}`
  const source = unless
    ? unless.unique
      ? where`${listed()} on conflict (${commaList(unless.fields.map(field => columnName(engine, field)))}) do nothing`
      : selectMissing(resource, fields, listed(), unless)
    : conditions.length > 0 ? where`select ${partsOf(encoded[0]!)}${whereClause(conditions)}` : listed()
  const inserted = where`insert into ${resource.table} ${rowSource(engine, written, source)} returning ${selectList(selection)}`
  return { ...statement(call, inserted), decode: decoder(selection), returnsRows: true, expectedRows: rows.length, atomic: !unless }
}

/** The parameter of a value. As a column of a SELECT, it needs a type that some databases cannot infer. */
function newValue({ adapter: { typed } }: Engine, field: Field, encoded: unknown, isSelected: boolean): Part {
  const bound = boundDriverValue(field, encoded)
  return isSelected && typed !== unchanged ? typed(asSql(bound), field.column) : bound
}

const isPlain = ({ adapter }: Engine, { fields }: Selection, isSelected: boolean) =>
  fields.every(({ bind }) => !bind) && (!isSelected || adapter.typed === unchanged)

const hasSql = (row: readonly unknown[]) => row.some(value => typeof value === 'object' && is(value, SQL))

/** `(a, b) values (?, ?)` */
const rowSource = (engine: Engine, written: Selection, source: Where): Part =>
  written.fields.length === 0 ? engine.adapter.defaultValues : where`(${columnNames(engine, written)}) ${source}`

const columnNames = memoizedPair((engine: Engine, { fields }: Selection) =>
  constant(commaList(fields.map(field => columnName(engine, field)))))

/** `select column1, column2 from (values …) as made where not exists (select 1 from t where a = column1 and …)` */
function selectMissing({ table }: Resource, fields: readonly Field[], listed: Where, unless: Unless): Where {
  const newValue = (field: Field) => sql.raw(`made.column${fields.indexOf(field) + 1}`)
  const sameKey = unless.fields.map(field => where`${sameBytes(field.column, newValue(field), field.bytes)}`)
  const exists = where`exists (select 1 from ${table}${whereClause([...sameKey, ...unless.where])})`
  return where`select ${commaList(fields.map(newValue))} from (${listed}) as made where not ${exists}`
}

/**
 * `insert into t (a, b) values (?, ?)`. The commit reads the row back by its key. With `unless`, the statement skips an existing row:
 * `insert into t (a, b) select ?, ? from dual where not exists (select 1 from t where a = ?) on duplicate key update a = a`.
 * It does not use `insert ignore`, because that suppresses every other error too.
 */
function insertOne(
  call: Call,
  resource: Resource,
  written: Selection,
  { values: row }: NewRow,
  selection: Selection,
  unless: Unless | undefined,
): Returning {
  const { engine } = call
  const values = commaList(written.fields.map(field => boundValue(field, row[field.name])))
  const source = unless ? where`select ${values} from dual ${unlessExists(engine, resource, row, unless)}` : where`values (${values})`
  return {
    ...statement(call, where`insert into ${resource.table} ${rowSource(engine, written, source)}`),
    decode: decoder(selection),
    returnsRows: true,
    expectedRows: 1,
    atomic: true,
    readBack: insertId => selectStatement(call, resource, keyOf(resource, row, insertId), selection),
  }
}

function unlessExists(engine: Engine, { table }: Resource, row: NewRow['values'], unless: Unless): Where {
  const existing = [...unless.fields.map(field => equals(field, row[field.name])), ...(unless.unique ? [] : unless.where)]
  const [first] = unless.fields
  const skip = unless.unique ? where` on duplicate key update ${columnName(engine, first!)} = ${first!.column}` : EMPTY
  return where`where not exists (select 1 from ${table}${whereClause(existing)})${skip}`
}

/** Returns conditions for the key of an inserted row. A value is in the row, or is the auto-increment value that the database reports. */
function keyOf(resource: Resource, row: NewRow['values'], insertId: unknown): readonly Where[] {
  return resource.primaryKey.map((field) => {
    const value = row[field.name]
    if (value !== undefined && value !== null) return equals(field, value)
    // Without `generated`, the reported value is that of another column.
    if (!insertId || !field.generated)
      throw new Error(
        `[auto-api] \`${resource.name}\`: the database generates the key \`${field.name}\` and does not report its value. `
        + 'Give the column a `$defaultFn` or an auto-increment.',
      )
    return equals(field, field.kind === 'bigint' ? BigInt(insertId as number | string) : Number(insertId))
  })
}
