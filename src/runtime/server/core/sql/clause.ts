/** SQL told apart from its values: a query's text is built once per shape and found by it ever after. */
import { is, sql, SQL, type Column } from 'drizzle-orm'
import { postgresType } from '../../engines/dialects'
import type { Engine, Statement } from '../../engines/engine'
import { outline } from './parameters'
import { quoted, shape, shapeOf, type Shape } from './shape'
import type { Field } from '../../schema/field'
import type { Compiled, StatementCache } from './statement-cache'

/** A condition: two of one shape have the same text, whatever their values. */
export interface Clause {
  readonly shape: Shape
  /** Driver values, in the order in which `build` places them. */
  readonly values: readonly unknown[]
  readonly build: () => SQL
  /** The app wrote this SQL. */
  readonly custom?: true
}

/** A column by the name it has in its table. */
export type NamedColumn = Pick<Field, 'name' | 'column' | 'compare' | 'bytes'>

/** The statement for a key; `build` runs only when the key is new. Its parameters must be `values`, in their order. */
export function statement<Extra>(
  cache: StatementCache,
  engine: Engine,
  key: Shape,
  values: readonly unknown[],
  build: () => { sql: SQL, extra: Extra },
): Statement & { extra: Extra } {
  const compiled = cache(`${engine.name}|${key}`, () => {
    const { sql, extra } = build()
    const rendered = engine.render(sql)
    if (rendered.values.length !== values.length)
      throw new Error(`[auto-api] The statement ${key} has ${rendered.values.length} places for ${values.length} values.`)
    return { text: rendered.text, extra }
  }) as Compiled<Extra>
  return { text: compiled.text, values, extra: compiled.extra }
}

/** A key, a tenant: equal only to the same bytes, whatever the column's collation. */
export function equals(field: Field, value: unknown): Clause {
  return equalsRaw(field, field.encode(value))
}

/** As {@link equals}, with the driver's value. The plain comparison is the one that an index serves. */
export function equalsRaw(field: NamedColumn, value: unknown): Clause {
  const { column, bytes } = field
  if (!bytes) return { shape: shape`${column}=`, values: [value], build: () => sql`${column} = ${bound(field, value)}` }
  return { shape: shape`${column} bytewise=`, values: [value, value], build: () => sameBytes(column, bound(field, value), bytes) }
}

/** Both sides hold the same bytes: how keys meet. */
export function sameBytes(left: SQL | Column, right: SQL | Column, bytes: NamedColumn['bytes']): SQL {
  const plain = sql`${left} = ${right}`
  return bytes ? sql`(${plain} and ${bytes.beside(sql`${bytes.of(sql`${left}`)} = ${bytes.of(sql`${right}`)}`)})` : plain
}

/** A driver value where it is compared with its column. */
export const bound = (field: NamedColumn, value: unknown): SQL => compared(field, sql`${sql.param(value)}`)

/** What is compared with a column, told its type where the engine would otherwise compare something else. */
export function compared({ compare }: NamedColumn, value: SQL): SQL {
  return compare ? compare(value) : value
}

export function isNull(field: Field): Clause {
  return { shape: shape`${field.column} null`, values: [], build: () => sql`${field.column} is null` }
}

export function isNotNull(field: Field): Clause {
  return { shape: shape`${field.column} set`, values: [], build: () => sql`${field.column} is not null` }
}

/** Nothing fits: the answer to a caller whose tenant cannot be told, should one come this far. */
export const NO_ROWS: Clause = { shape: shape`nothing`, values: [], build: () => sql`1 = 0` }

/** SQL an app wrote: its text joins the shape, its parameters join the values. */
export function fromSql(engine: Engine, condition: SQL): Clause {
  const told = outline(condition)
  if (told) return { shape: shape`sql ${told.shape}`, values: told.values, build: () => sql`(${condition})`, custom: true }
  const { text, values } = engine.render(condition)
  return { shape: shape`text ${quoted(text)}`, values, build: () => sql`(${condition})`, custom: true }
}

export { shapeOf }
export const valuesOf = (clauses: readonly Clause[]) => clauses.flatMap(clause => clause.values)

/** ` where a and b`, or nothing. */
export function whereClause(clauses: readonly Clause[]): SQL {
  return clauses.length === 0 ? sql`` : sql` where ${joinAnd(clauses)}`
}

const PARAMETER = shape`?`

/** A value in its place. A custom column type may turn a value into SQL: its text then joins the shape. */
export function boundValue(engine: Engine, field: Field, value: unknown): Clause {
  const encoded = field.encode(value)
  return is(encoded, SQL) ? fromSql(engine, encoded) : { shape: PARAMETER, values: [encoded], build: () => sql`${sql.param(encoded)}` }
}

/** SQL around conditions of its own, in the order in which `build` places them. @param around what the SQL itself is made of. */
export function fromClauses(around: Shape, clauses: readonly Clause[], build: () => SQL): Clause {
  return { shape: shape`${around}${shapeOf(clauses)}`, values: valuesOf(clauses), build }
}

/** One of several lists of conditions holds. */
export function or(branches: readonly (readonly Clause[])[]): Clause {
  return {
    shape: shape`or ${branches.map(shapeOf)}`,
    values: branches.flatMap(valuesOf),
    build: () => sql`(${joined(branches.map(branch => sql`(${joinAnd(branch)})`), 'or')})`,
  }
}

/** Several conditions as one. */
export function and(clauses: readonly Clause[]): Clause {
  return { shape: shape`all ${shapeOf(clauses)}`, values: valuesOf(clauses), build: () => joinAnd(clauses) }
}

/** All of several conditions hold. */
export function joinAnd(clauses: readonly Clause[]): SQL {
  return clauses.length === 0 ? sql`1 = 1` : joined(clauses.map(clause => clause.build()), 'and')
}

/** In a row each AND is one level deeper than the one before, and D1 goes a hundred levels deep: many are put into halves of halves. */
function joined(conditions: readonly SQL[], word: 'and' | 'or'): SQL {
  if (conditions.length <= IN_A_ROW) return sql.join([...conditions], sql.raw(` ${word} `))
  const half = conditions.length >> 1
  return sql`(${joined(conditions.slice(0, half), word)}) ${sql.raw(word)} (${joined(conditions.slice(half), word)})`
}

const IN_A_ROW = 32

/** In a list, or in none of it; NULL is neither. */
export function inList(engine: Engine, field: Field, values: readonly unknown[], inside: boolean): Clause {
  if (values.length === 0) return inside ? NO_ROWS : isNotNull(field)
  const encoded = values.map(value => [field.encode(value)])
  const list = encoded.some(([value]) => is(value, SQL)) ? listOfSql(engine, field, values) : listOf(engine, [field], encoded)
  const { values: bound, build } = list
  const operator = inside ? 'in' : 'not in'
  return {
    shape: shape`${field.column} ${operator} ${list.shape}`,
    values: bound,
    build: () => sql`${field.column} ${sql.raw(operator)} ${build()}`,
  }
}

/** The rows whose columns hold one of these combinations of keys, given as driver values, byte for byte. */
export function inTuples(engine: Engine, fields: readonly NamedColumn[], tuples: readonly (readonly unknown[])[]): Clause {
  if (tuples.length === 0) return NO_ROWS
  const list = listOf(engine, fields, tuples)
  const plain = {
    shape: shape`${fields.map(({ column }) => column)} in ${list.shape}`,
    values: list.values,
    build: () => sql`${tuple(fields.map(({ column }) => sql`${column}`))} in ${list.build()}`,
  }
  const bytes = fields.find(({ bytes }) => bytes)?.bytes
  if (!bytes) return plain
  const exact = listOf(engine, fields, tuples, true)
  const columns = fields.map(({ column, bytes }) => bytes ? bytes.of(sql`${column}`) : sql`${column}`)
  return {
    shape: shape`bytewise ${plain.shape}`,
    values: [...plain.values, ...exact.values],
    build: () => sql`(${plain.build()} and ${bytes.beside(sql`${tuple(columns)} in ${exact.build()}`)})`,
  }
}

const tuple = (parts: readonly SQL[]) => parts.length === 1 ? parts[0]! : sql`(${sql.join([...parts], sql`, `)})`

/**
 * A list in parentheses. SQLite takes it as one JSON parameter and Postgres as one array for each column, so that no
 * list is too long for them and every length has the same text; on MySQL its length is rounded up by repeating the
 * last value, for few texts.
 * @param exact whether it is compared by bytes.
 */
function listOf(engine: Engine, fields: readonly NamedColumn[], tuples: readonly (readonly unknown[])[], exact = false): Clause {
  // SQLite goes by the collation of what stands on the left.
  if (engine.dialect === 'sqlite')
    return tuples.some(tuple => tuple.some(isBytes)) ? bytesList(engine, fields, tuples) : jsonList(fields, tuples)
  if (engine.dialect === 'pg') return arrayList(fields, tuples, exact)
  const length = 2 ** Math.ceil(Math.log2(tuples.length))
  const padded = [...tuples, ...Array.from({ length: length - tuples.length }, () => tuples.at(-1)!)]
  const place = (field: NamedColumn, value: unknown) => exact && field.bytes ? field.bytes.of(bound(field, value)) : bound(field, value)
  const places = (tuple: readonly unknown[]) => sql.join(tuple.map((value, index) => place(fields[index]!, value)), sql`, `)
  return {
    shape: shape`${fields.length} x ${length}`,
    values: padded.flat(),
    build: () => sql`(${sql.join(padded.map(tuple => fields.length === 1 ? places(tuple) : sql`(${places(tuple)})`), sql`, `)})`,
  }
}

const isBytes = (value: unknown) => value instanceof Uint8Array

/** `(values (?), (?))`: JSON has no bytes. Its length is rounded up as on MySQL, as far as the engine takes so many parameters. */
function bytesList({ maxParameters }: Engine, fields: readonly NamedColumn[], tuples: readonly (readonly unknown[])[]): Clause {
  const rounded = 2 ** Math.ceil(Math.log2(tuples.length))
  const length = rounded * fields.length > maxParameters ? tuples.length : rounded
  const padded = [...tuples, ...Array.from({ length: length - tuples.length }, () => tuples.at(-1)!)]
  const row = (tuple: readonly unknown[]) => sql`(${sql.join(tuple.map(value => sql`${sql.param(value)}`), sql`, `)})`
  return {
    shape: shape`bytes ${fields.length} x ${length}`,
    values: padded.flat(),
    build: () => sql`(values ${sql.join(padded.map(row), sql`, `)})`,
  }
}

/** `(point(?), point(?))`: what a custom type makes SQL of. */
function listOfSql(engine: Engine, field: Field, values: readonly unknown[]): Clause {
  const places = values.map(value => boundValue(engine, field, value))
  return fromClauses(shape`list`, places, () => sql`(${sql.join(places.map(({ build }) => build()), sql`, `)})`)
}

/** `(select value from json_each(?))` */
function jsonList(fields: readonly NamedColumn[], tuples: readonly (readonly unknown[])[]): Clause {
  const single = fields.length === 1
  const json = JSON.stringify(single ? tuples.map(([value]) => value) : tuples)
  return {
    shape: shape`json ${fields.length}`,
    values: [json],
    build: () => single
      ? sql`(select value from json_each(${sql.param(json)}))`
      : sql`(select ${sql.join(fields.map((_, index) => sql.raw(`value ->> ${index}`)), sql`, `)} from json_each(${sql.param(json)}))`,
  }
}

/** `(select unnest(cast(cast(? as text) as integer[])))`: handed over as text, so that every driver writes it alike. */
function arrayList(fields: readonly NamedColumn[], tuples: readonly (readonly unknown[])[], exact: boolean): Clause {
  const arrays = fields.map((_, index) => toArray(tuples.map(tuple => tuple[index])))
  const array = (index: number) => sql`cast(cast(${sql.param(arrays[index])} as text) as ${postgresType(fields[index]!.column)}[])`
  const shown = (index: number, value: SQL) => exact ? fields[index]!.bytes?.of(value) ?? value : value
  const named = fields.map((_, index) => sql.identifier(`v${index}`))
  const listed = exact ? sql.join(named.map((name, index) => shown(index, sql`${name}`)), sql`, `) : sql`*`
  const alias = exact ? sql` as listed(${sql.join(named, sql`, `)})` : sql``
  return {
    shape: shape`array ${fields.length}`,
    values: arrays,
    build: () => fields.length === 1
      ? sql`(select ${shown(0, sql`unnest(${array(0)})`)})`
      : sql`(select ${listed} from unnest(${sql.join(fields.map((_, index) => array(index)), sql`, `)})${alias})`,
  }
}

/** `{"a","it's"}` */
function toArray(values: readonly unknown[]): string {
  return `{${values.map(value => `"${toElement(value).replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}

function toElement(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  return value instanceof Uint8Array ? `\\x${globalThis.Buffer.from(value).toString('hex')}` : String(value)
}
