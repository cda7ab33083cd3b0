/** Builds the statements of an insert. */
import { is, sql, SQL } from 'drizzle-orm'
import { shape } from '../sql/shape'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { select, type Selection } from '../access/fields'
import { boundDriverValue, boundValue, equals, sameBytes, shapeOf, statement, valuesOf, whereClause, type Clause } from '../sql/clause'
import { decoder } from '../read/rows/decode'
import { selectList } from '../read/rows/select'
import { columnName, columnsOf, commaList } from './columns'
import { selectStatement, type Returning } from './select'

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
  readonly where: readonly Clause[]
}

/** What has to hold for an insert. */
export interface InsertConditions {
  readonly unless?: Unless
  /** Conditions without which the statement inserts nothing. Only for a single row, on a dialect with RETURNING, and without `unless`. */
  readonly where?: readonly Clause[]
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
  const written = select(resource, ({ name }) => rows[0] !== undefined && Object.hasOwn(rows[0].values, name))
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

const isSql = (value: unknown) => is(value, SQL)

const shapeOfUnless = (unless: Unless | undefined) =>
  unless ? shape`unless ${unless.unique}${columnsOf(unless.fields)}${shapeOf(unless.where)}` : shape`always`

/**
 * `insert into t (a, b) values (?, ?), … returning …`. With conditions, `insert into t (a, b) select ?, ? where … returning …`. With
 * `unless`, the statement skips existing rows: `… on conflict (a) do nothing`, or
 * `insert into t (a, b) select column1, column2 from (values …) as made where not exists (select 1 from t where a = column1)`.
 * `made` contains the new rows.
 */
function insertStatement(
  { api, engine }: Call,
  resource: Resource,
  written: Selection,
  rows: readonly NewRow[],
  selection: Selection,
  { unless, where = [] }: InsertConditions,
): Returning {
  const { fields } = written
  const encoded = rows.map(({ values }) => fields.map(field => field.encode(values[field.name])))
  const parametersOf = () => encoded.map(row => row.map((value, index) => boundDriverValue(engine, fields[index]!, value)))
  // Most inserts have no values that become SQL. Their statement then depends on the number of rows only.
  const withSql = encoded.some(row => row.some(isSql)) ? parametersOf() : undefined
  // The conditions have their values after those of the rows.
  const further = unless && !unless.unique ? unless.where : where
  const form = shape`${withSql ? withSql.map(shapeOf) : rows.length}${shapeOf(where)}`
  const key = shape`insert ${selection.key}${shapeOfUnless(unless)}${written.key}${form}`
  const values = withSql ? withSql.flatMap(valuesOf) : encoded.length === 1 ? encoded[0]! : encoded.flat()
  const compiled = statement(api.statements, engine, key, further.length > 0 ? [...values, ...valuesOf(further)] : values, () => {
    const parameters = withSql ?? parametersOf()
    const isSelected = unless?.unique === false || where.length > 0
    const toSql = (value: Clause, index: number) =>
      isSelected ? engine.adapter.typed(value.build(), fields[index]!.column) : value.build()
    const values = commaList(parameters.map(row => sql`(${commaList(row.map(toSql))})`))
    const columns = commaList(fields.map(field => columnName(engine, field)))
    const newValue = (field: Field) => sql.raw(`made.column${fields.indexOf(field) + 1}`)
    const sameKey = (unless?.fields ?? []).map((field): Clause => ({
      shape: shape`made`,
      values: [],
      build: () => sameBytes(field.column, newValue(field), field.bytes),
    }))
    const exists = sql`exists (select 1 from ${resource.table}${whereClause([...sameKey, ...further])})`
    const source = !unless
      ? where.length > 0 ? sql`select ${commaList(parameters[0]!.map(toSql))}${whereClause(where)}` : sql`values ${values}`
      : unless.unique
        ? sql`values ${values} on conflict (${commaList(unless.fields.map(field => columnName(engine, field)))}) do nothing`
        : sql`select ${commaList(fields.map(newValue))} from (values ${values}) as made where not ${exists}`
    const row = fields.length === 0 ? engine.adapter.defaultValues : sql`(${columns}) ${source}`
    return { sql: sql`insert into ${resource.table} ${row} returning ${selectList(selection)}`, extra: decoder(selection) }
  })
  return { ...compiled, returnsRows: true, expectedRows: rows.length, atomic: !unless }
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
  const { api, engine } = call
  const { fields } = written
  const parameters = fields.map(field => boundValue(engine, field, row[field.name]))
  const existing = unless ? [...unless.fields.map(field => equals(field, row[field.name])), ...(unless.unique ? [] : unless.where)] : []
  const key = shape`insert one ${selection.key}${shapeOfUnless(unless)}${written.key}${shapeOf(parameters)}`
  const compiled = statement(api.statements, engine, key, [...valuesOf(parameters), ...valuesOf(existing)], () => {
    const columns = commaList(fields.map(field => columnName(engine, field)))
    const values = commaList(parameters.map(value => value.build()))
    const first = unless?.unique ? unless.fields[0]! : undefined
    const skip = first ? sql` on duplicate key update ${columnName(engine, first)} = ${first.column}` : sql``
    const source = unless
      ? sql`select ${values} from dual where not exists (select 1 from ${resource.table}${whereClause(existing)})${skip}`
      : sql`values (${values})`
    const row = fields.length === 0 ? engine.adapter.defaultValues : sql`(${columns}) ${source}`
    return { sql: sql`insert into ${resource.table} ${row}`, extra: decoder(selection) }
  })
  return {
    ...compiled,
    returnsRows: true,
    expectedRows: 1,
    atomic: true,
    readBack: insertId => selectStatement(call, resource, keyOf(resource, row, insertId), selection),
  }
}

/** Returns conditions for the key of an inserted row. A value is in the row, or is the auto-increment value that the database reports. */
function keyOf(resource: Resource, row: Record<string, unknown>, insertId: unknown): readonly Clause[] {
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
