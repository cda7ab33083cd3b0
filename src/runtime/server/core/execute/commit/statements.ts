/** The statements of a write. The row scope stands in each WHERE, so that check and write cannot disagree. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import { DIALECTS, postgresType } from '../../../engines/dialects'
import type { WriteStatement, Row } from '../../../engines/engine'
import { shape } from '../../sql/shape'
import type { Dialect } from '../../../../shared/dialects'
import type { Field } from '../../../schema/field'
import type { Resource } from '../../../schema/model'
import type { Call } from '../../context'
import type { Selection } from '../../access/fields'
import { equals, sameBytes, boundValue, shapeOf, statement, valuesOf, whereClause, type Clause } from '../../sql/clause'
import { decoder, type RecordValues } from '../rows/decode'
import { selectList } from '../rows/select'

export type Returning = WriteStatement & { readonly extra: (row: Row) => RecordValues }

/** Which rows an insert leaves out: those that are there already. */
export interface Unless {
  /** The columns that tell it. */
  readonly fields: readonly Field[]
  /** A constraint of the database says so as well; otherwise the statement looks, under the locks of its commit. */
  readonly unique: boolean
  /** Of the rows of these columns, those that count. */
  readonly where: readonly Clause[]
}

/** The rows set the same fields. Without RETURNING each row is a statement of its own: only then is it known which key the database made. */
export function insertStatements(
  call: Call,
  resource: Resource,
  rows: readonly Record<string, unknown>[],
  selection: Selection,
  unless?: Unless,
): { readonly statement: Returning, readonly rows: readonly Record<string, unknown>[] }[] {
  const { returning } = DIALECTS[call.engine.dialect]
  const fields = [...resource.fields.values()].filter(field => rows[0] && Object.hasOwn(rows[0], field.name))
  const size = returning ? Math.max(1, Math.floor(call.engine.maxParameters / Math.max(1, fields.length))) : 1
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, index) => rows.slice(index * size, (index + 1) * size)).map(own => ({
    rows: own,
    statement: returning
      ? insertStatement(call, resource, fields, own, selection, unless)
      : insertOne(call, resource, fields, own[0]!, selection, unless),
  }))
}

const shapeOfUnless = (unless: Unless | undefined) =>
  unless ? shape`unless ${unless.unique}${columnsOf(unless.fields)}${shapeOf(unless.where)}` : shape`always`

/**
 * `insert into t (a, b) values (?, ?), … returning …`. Rows that are there already are left as they are: `… on conflict (a) do nothing`, or
 * `insert into t (a, b) select column1, column2 from (values …) as made where not exists (select 1 from t where a = column1)`.
 */
function insertStatement(
  { api, engine }: Call,
  resource: Resource,
  fields: readonly Field[],
  rows: readonly Record<string, unknown>[],
  selection: Selection,
  unless: Unless | undefined,
): Returning {
  const places = rows.map(row => fields.map(field => boundValue(engine, field, row[field.name])))
  const looked = unless && !unless.unique ? unless.where : []
  const key = shape`insert ${selection.key}${shapeOfUnless(unless)}${columnsOf(fields)}${places.map(shapeOf)}`
  const made = statement(api.statements, engine, key, [...places.flatMap(valuesOf), ...valuesOf(looked)], () => {
    const built = (value: Clause, index: number) =>
      unless?.unique === false ? typed(engine, fields[index]!, value.build()) : value.build()
    const values = list(places.map(row => sql`(${list(row.map(built))})`))
    const columns = list(fields.map(field => name(engine, field)))
    const own = (field: Field) => sql.raw(`made.column${fields.indexOf(field) + 1}`)
    const same = (unless?.fields ?? []).map((field): Clause => ({
      shape: shape`made`,
      values: [],
      build: () => sameBytes(field.column, own(field), field.bytes),
    }))
    const rest = !unless
      ? sql`values ${values}`
      : unless.unique
        ? sql`values ${values} on conflict (${list(unless.fields.map(field => name(engine, field)))}) do nothing`
        : sql`select ${list(fields.map(own))} from (values ${values}) as made where not exists (select 1 from ${resource.table}${whereClause([...same, ...looked])})`
    return {
      sql:
        fields.length === 0
          ? sql`insert into ${resource.table} ${DIALECTS[engine.dialect].nothing} returning ${selectList(selection)}`
          : sql`insert into ${resource.table} (${columns}) ${rest} returning ${selectList(selection)}`,
      extra: decoder(selection),
    }
  })
  return { ...made, returns: true, expect: rows.length, whole: !unless }
}

/** Postgres takes a parameter that stands in no column for text. */
const typed = ({ dialect }: Call['engine'], { column }: Field, value: SQL) =>
  dialect === 'pg' ? sql`cast(${value} as ${postgresType(column)})` : value

/**
 * `insert into t (a, b) values (?, ?)`, read back by its key. Unless it is there already:
 * `insert into t (a, b) select ?, ? from dual where not exists (select 1 from t where a = ?) on duplicate key update a = a`,
 * for `insert ignore` would swallow every other error too.
 */
function insertOne(
  call: Call,
  resource: Resource,
  fields: readonly Field[],
  row: Record<string, unknown>,
  selection: Selection,
  unless: Unless | undefined,
): Returning {
  const { api, engine } = call
  const places = fields.map(field => boundValue(engine, field, row[field.name]))
  const there = unless ? [...unless.fields.map(field => equals(field, row[field.name])), ...(unless.unique ? [] : unless.where)] : []
  const key = shape`insert one ${selection.key}${shapeOfUnless(unless)}${columnsOf(fields)}${shapeOf(places)}`
  const made = statement(api.statements, engine, key, [...valuesOf(places), ...valuesOf(there)], () => {
    const columns = list(fields.map(field => name(engine, field)))
    const values = list(places.map(value => value.build()))
    const first = unless?.unique ? unless.fields[0]! : undefined
    const skip = first ? sql` on duplicate key update ${name(engine, first)} = ${first.column}` : sql``
    return {
      sql:
        fields.length === 0
          ? sql`insert into ${resource.table} ${DIALECTS[engine.dialect].nothing}`
          : unless
            ? sql`insert into ${resource.table} (${columns}) select ${values} from dual where not exists (select 1 from ${resource.table}${whereClause(there)})${skip}`
            : sql`insert into ${resource.table} (${columns}) values (${values})`,
      extra: decoder(selection),
    }
  })
  return {
    ...made,
    returns: true,
    expect: 1,
    whole: true,
    readBack: insertId => selectStatement(call, resource, keyOf(resource, row, insertId), selection),
  }
}

/** The key of a row as it was given, or as the database says it counted on. */
function keyOf(resource: Resource, row: Record<string, unknown>, insertId: unknown): readonly Clause[] {
  return resource.primaryKey.map((field) => {
    const own = row[field.name]
    if (own !== undefined && own !== null) return equals(field, own)
    if (!insertId)
      throw new Error(
        `[auto-api] \`${resource.name}\`: the database makes the key \`${field.name}\` and cannot say what it made. Give the column a $defaultFn, or an auto-increment.`,
      )
    return equals(field, field.kind === 'bigint' ? BigInt(insertId as number | string) : Number(insertId))
  })
}

/**
 * `update t set a = ? where … returning …`: of one row, by its key.
 * @param keys what finds the one row again, where it must be read back.
 */
export function updateStatement(
  call: Call,
  resource: Resource,
  values: Readonly<Record<string, unknown>>,
  where: readonly Clause[],
  selection: Selection,
  keys?: readonly Clause[],
): Returning {
  const { api, engine } = call
  const { returning } = DIALECTS[engine.dialect]
  const fields = [...resource.fields.values()].filter(field => Object.hasOwn(values, field.name))
  const places = fields.map(field => boundValue(engine, field, values[field.name]))
  const key = shape`update ${selection.key}${columnsOf(fields)}${shapeOf(places)}${shapeOf(where)}`
  const made = statement(api.statements, engine, key, [...valuesOf(places), ...valuesOf(where)], () => ({
    sql: sql`update ${resource.table} set ${list(fields.map((field, index) => sql`${name(engine, field)} = ${places[index]!.build()}`))}${whereClause(where)}${returning ? sql` returning ${selectList(selection)}` : sql``}`,
    extra: decoder(selection),
  }))
  if (returning) return { ...made, returns: true, expect: 1, whole: true }
  return {
    ...made,
    expect: 1,
    whole: true,
    ...(keys && { returns: true, readBack: () => selectStatement(call, resource, keys, selection) }),
  }
}

/**
 * `select … from t where …`: what an update that changes nothing answers with. With a lock, in a commit, the rows stay as they are until
 * its end; `order by id`, for two that lock the same rows in different orders would each wait for the other.
 */
export function selectStatement(
  { api, engine }: Call,
  resource: Resource,
  where: readonly Clause[],
  selection: Selection,
  lock?: 'share' | 'update',
): Returning {
  const made = statement(api.statements, engine, shape`select ${selection.key}${shapeOf(where)}${lock}`, valuesOf(where), () => ({
    sql: sql`select ${selectList(selection)} from ${resource.table}${whereClause(where)}${
      lock && engine.concurrent
        ? lockInOrder(
            engine.dialect,
            resource.primaryKey.map(({ column }) => column),
            lock,
          )
        : sql``
    }`,
    extra: decoder(selection),
  }))
  return { ...made, returns: true, expect: 1 }
}

/** ` order by id for update` */
export function lockInOrder(dialect: Dialect, keys: readonly Column[], lock: 'share' | 'update'): SQL {
  return sql` order by ${list(keys.map(column => sql`${column}`))}${DIALECTS[dialect].lock[lock]}`
}

/** `delete from t where …`: of one row, by its key. */
export function deleteStatement({ api, engine }: Call, resource: Resource, where: readonly Clause[]): WriteStatement {
  const made = statement(api.statements, engine, shape`delete ${resource}${shapeOf(where)}`, valuesOf(where), () => ({
    sql: sql`delete from ${resource.table}${whereClause(where)}`,
    extra: undefined,
  }))
  return { ...made, expect: 1, whole: true }
}

/** A column on the left of an assignment stands without its table. */
function name(engine: Call['engine'], field: Field): SQL {
  return sql`${sql.identifier(engine.columnName(field.column))}`
}

const columnsOf = (fields: readonly Field[]) => fields.map(({ column }) => column)

const list = (parts: readonly SQL[]) => sql.join([...parts], sql`, `)
