/** The conditions that statements are made of: comparisons with values, and their combinations. */
import { is, sql, SQL, type Column } from 'drizzle-orm'
import type { Dialect } from '../../../shared/dialects'
import type { Engine } from '../../engines/engine'
import type { Field } from '../../schema/field'
import { memoized } from '../memoized'
import { template } from './parameterize'
import { asSql, EMPTY, joined, value, where, type Part, type Where } from './where'

/** A column and the ways to compare it. */
export type ComparableColumn = Pick<Field, 'name' | 'column' | 'compare' | 'bytes'>

/** Compares keys and tenants by bytes, even if the column's collation treats different texts as equal. */
export function equals(field: Field, value: unknown): Where {
  return equalsRaw(field, field.encode(value))
}

/** Like {@link equals}, for a driver value. The condition contains the plain comparison too, because only that one can use an index. */
export function equalsRaw(field: ComparableColumn, driverValue: unknown): Where {
  return field.bytes ? equalBytes(field)(value(driverValue)) : where`${field.column} = ${bound(field, driverValue)}`
}

const equalBytes = memoized((field: ComparableColumn) => template(value => sameBytes(field.column, compared(field, value), field.bytes)))

/** Compares keys and foreign keys by bytes. */
export function sameBytes(left: SQL | Column, right: SQL | Column, bytes: ComparableColumn['bytes']): SQL {
  const plain = sql`${left} = ${right}`
  return bytes ? sql`(${plain} and ${bytes.condition(sql`${bytes.operand(sql`${left}`)} = ${bytes.operand(sql`${right}`)}`)})` : plain
}

/** A driver value as the parameter of a comparison with its column. */
export const bound = (field: Pick<Field, 'compare'>, driverValue: unknown): Part =>
  field.compare ? field.compare(asSql(value(driverValue))) : value(driverValue)

/** Casts a value to the column's type, if the engine would otherwise compare it as another type. */
export function compared({ compare }: ComparableColumn, value: SQL): SQL {
  return compare ? compare(value) : value
}

export const isNull = ({ column }: Field): Where => where`${column} is null`

export const isNotNull = ({ column }: Field): Where => where`${column} is not null`

export const EVERY_ROW = where`1 = 1`

/** Matches no row. It is also the scope of a caller without a tenant. */
export const NO_ROWS = where`1 = 0`

/** What tells a planner that a condition selects many rows. Only SQLite needs it. */
const MANY_ROWS: Readonly<Partial<Record<Dialect, (condition: Where) => Where>>> = {
  sqlite: condition => where`likelihood(${condition}, 0.05)`,
}

/**
 * Makes a condition such as that of the tenant the second choice of an index, beside a list of keys. Without ANALYZE, SQLite expects ten
 * rows from each index, and would read all rows of the tenant instead of those with the keys.
 */
export function manyRows(condition: Where, { dialect }: Engine): Where {
  const hint = MANY_ROWS[dialect]
  return hint ? condition.with({ besideKeys: hint(condition) }) : condition
}

/** Converts SQL of the app to a condition. */
export const fromSql = (condition: SQL | Where): Where => where`(${condition})`.with({ custom: true })

/** Builds ` where a and b`, or nothing if there are no conditions. */
export function whereClause(conditions: readonly Where[]): Where {
  return conditions.length === 0 ? EMPTY : where` where ${and(conditions)}`
}

/** A parameter for a value, or the SQL to which a custom column type converts the value. */
export const boundValue = (field: Field, value: unknown): Part => boundDriverValue(field, field.encode(value))

/** Like {@link boundValue}, for what `field.encode` has returned. */
export function boundDriverValue({ bind }: Field, encoded: unknown): Part {
  if (is(encoded, SQL)) return sql`(${encoded})`
  return bind ? bind(asSql(value(encoded))) : value(encoded)
}

export const not = (condition: Where): Where => where`not (${condition})`

/** Matches a row if all conditions of at least one branch hold. */
export function or(branches: readonly (readonly Where[])[]): Where {
  return where`(${chain(branches.map(branch => where`(${and(branch)})`), ' or ')})`
}

/** Matches exactly the rows that {@link or} does not match: also those for which it is NULL. */
export function noneOf(branches: readonly (readonly Where[])[]): Where {
  return where`(${or(branches)} is not true)`
}

/**
 * Combines several conditions into one. An empty list matches every row.
 * @param besideKeys whether a list of keys selects the rows
 */
export function and(conditions: readonly Where[], besideKeys = conditions.some(selectsByKeys)): Where {
  if (conditions.length === 0) return EVERY_ROW
  const parts = besideKeys ? conditions.map(toldOfKeys) : conditions
  const all = chain(parts, ' and ')
  return !besideKeys && conditions.some(({ traits }) => traits.besideKeys) ? all.with({ besideKeys: and(conditions, true) }) : all
}

const selectsByKeys = ({ traits }: Where) => traits.byKeys === true
const toldOfKeys = (condition: Where) => condition.traits.besideKeys ?? condition

/** Splits long lists into halves, because each `and` or `or` in a chain adds a nesting level, and D1 accepts a hundred levels. */
function chain<const T extends ' and ' | ' or '>(conditions: readonly Where[], separator: T): Where {
  if (conditions.length <= MAX_CHAIN) return joined<' and ' | ' or '>(conditions, separator)
  const half = conditions.length >> 1
  const halves = [conditions.slice(0, half), conditions.slice(half)].map(part => where`(${chain(part, separator)})`)
  return joined<' and ' | ' or '>(halves, separator)
}

const MAX_CHAIN = 4
