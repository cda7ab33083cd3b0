/** SQL conditions separate from their values: the text of a statement is built once per shape and cached. */
import { is, sql, SQL, type Column } from 'drizzle-orm'
import type { Engine, Statement } from '../../engines/engine'
import { outline } from './outline'
import { quoted, shape, shapeOf, type Shape } from './shape'
import type { Field } from '../../schema/field'
import type { Compiled, StatementCache } from './statement-cache'

/** A condition. Conditions of one shape have the same text, whatever their values. */
export interface Clause {
  readonly shape: Shape
  /** Driver values, in the order in which `build` places them. */
  readonly values: readonly unknown[]
  readonly build: () => SQL
  /** The app wrote this SQL. */
  readonly custom?: true
}

/** A column and the ways to compare it. */
export type ComparableColumn = Pick<Field, 'name' | 'column' | 'compare' | 'bytes'>

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
      throw new Error(`[auto-api] The statement ${key} has ${rendered.values.length} parameters for ${values.length} values.`)
    return { text: rendered.text, extra }
  }) as Compiled<Extra>
  return { text: compiled.text, values, extra: compiled.extra }
}

/** Equality by bytes, for keys and tenants, whatever the column's collation. */
export function equals(field: Field, value: unknown): Clause {
  return equalsRaw(field, field.encode(value))
}

/** {@link equals} with a driver value. The plain comparison is the one that an index serves. */
export function equalsRaw(field: ComparableColumn, value: unknown): Clause {
  const { column, bytes } = field
  if (!bytes) return { shape: shape`${column}=`, values: [value], build: () => sql`${column} = ${bound(field, value)}` }
  return { shape: shape`${column} bytewise=`, values: [value, value], build: () => sameBytes(column, bound(field, value), bytes) }
}

/** Both sides have the same bytes, as keys and foreign keys must. */
export function sameBytes(left: SQL | Column, right: SQL | Column, bytes: ComparableColumn['bytes']): SQL {
  const plain = sql`${left} = ${right}`
  return bytes ? sql`(${plain} and ${bytes.condition(sql`${bytes.operand(sql`${left}`)} = ${bytes.operand(sql`${right}`)}`)})` : plain
}

/** A driver value where it is compared with its column. */
export const bound = (field: ComparableColumn, value: unknown): SQL => compared(field, sql`${sql.param(value)}`)

/** A value with the column's type, where the engine would otherwise compare another type. */
export function compared({ compare }: ComparableColumn, value: SQL): SQL {
  return compare ? compare(value) : value
}

export function isNull(field: Field): Clause {
  return { shape: shape`${field.column} null`, values: [], build: () => sql`${field.column} is null` }
}

export function isNotNull(field: Field): Clause {
  return { shape: shape`${field.column} set`, values: [], build: () => sql`${field.column} is not null` }
}

/** Matches no row: also the scope of a caller without a tenant. */
export const NO_ROWS: Clause = { shape: shape`nothing`, values: [], build: () => sql`1 = 0` }

/** SQL of the app: its text becomes part of the shape, its parameters become values. */
export function fromSql(engine: Engine, condition: SQL): Clause {
  const outlined = outline(condition)
  if (outlined) return { shape: shape`sql ${outlined.shape}`, values: outlined.values, build: () => sql`(${condition})`, custom: true }
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

/** A parameter for a value. A custom column type may turn the value into SQL, whose text becomes part of the shape. */
export function boundValue(engine: Engine, field: Field, value: unknown): Clause {
  const encoded = field.encode(value)
  return is(encoded, SQL) ? fromSql(engine, encoded) : { shape: PARAMETER, values: [encoded], build: () => sql`${sql.param(encoded)}` }
}

/** SQL that contains conditions, in the order in which `build` uses them. @param around the shape of the SQL itself. */
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

/** Each AND in a row nests one level deeper, and D1 accepts a hundred levels: long lists are split into halves. */
function joined(conditions: readonly SQL[], word: 'and' | 'or'): SQL {
  if (conditions.length <= MAX_IN_A_ROW) return sql.join([...conditions], sql.raw(` ${word} `))
  const half = conditions.length >> 1
  return sql`(${joined(conditions.slice(0, half), word)}) ${sql.raw(word)} (${joined(conditions.slice(half), word)})`
}

const MAX_IN_A_ROW = 32
