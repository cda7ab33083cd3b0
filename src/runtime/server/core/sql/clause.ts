/** SQL told apart from its values: a query's text is built once per shape and found by it ever after. */
import { is, sql, SQL, type Column } from 'drizzle-orm'
import type { Engine, Statement } from '../../engines/engine'
import { outline } from './outline'
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
