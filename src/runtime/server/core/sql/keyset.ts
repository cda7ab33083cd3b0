/** The order of a list, and the condition for the rows after a position. Every order ends with the primary key, so it has no ties. */
import type { Engine } from '../../engines/engine'
import type { Field } from '../../schema/field'
import { bound, NO_ROWS } from './conditions'
import { commaList, EMPTY, joined, value, where, word, type Part, type Where } from './where'

/** A value by which rows are sorted: a field, or what the database computes for each row. */
export type SortedValue = Pick<Field, 'name' | 'kind' | 'nullable' | 'ordered' | 'volatile' | 'compare' | 'isDriverValue'>

/** What a cursor depends on. */
export interface SortedBy {
  readonly field: SortedValue
  readonly descending: boolean
  /** The name of a computed value in `sort`, such as `author.name`. */
  readonly path?: string
}

export interface FieldOrder extends SortedBy {
  readonly field: Field
  readonly path?: undefined
  readonly computed?: undefined
}

export interface ComputedOrder extends SortedBy {
  readonly path: string
  readonly computed: ComputedValue
}

export type Order = FieldOrder | ComputedOrder

/** NULL sorts after every value, and in descending order before it, on every engine. */
export interface ComputedValue {
  /** Follows the table in a FROM clause. */
  readonly join: Where
  readonly value: Where
  /** The value in a select list. */
  readonly selection: Part
  /** The value in an ORDER BY, with its direction. */
  readonly sorted: Where
  /** Converts what the driver returns. Absent if it is the value of the cursor. */
  readonly read?: (raw: unknown) => unknown
}

export function orderKey(order: readonly SortedBy[]): string {
  return order.map(({ field, descending, path = field.name }) => `${descending ? '-' : ''}${path}`).join(',')
}

export const orderList = (order: readonly Order[]): Where =>
  commaList(order.map(({ field, descending, computed }) =>
    computed ? computed.sorted : descending ? where`${field.column} desc` : field.column))

/** The joins that an order needs, after the table of its rows. */
export function orderJoins(order: readonly Order[]): Where {
  const joins = order.flatMap(({ computed }) => computed ? [computed.join] : [])
  return joins.length === 0 ? EMPTY : joined(joins, '')
}

/** Builds the ORDER BY of a computed value. */
export function sortedComputed({ adapter }: Engine, value: Where, nullable: boolean, descending: boolean): Where {
  if (!nullable || !adapter.nullsLow) return descending ? where`${value} desc` : value
  return descending ? where`${value} is null desc, ${value} desc` : where`${value} is null, ${value}`
}

/**
 * Selects the rows after a position. For the order `a, b desc` and the position (1, 2), the condition is
 * `a >= 1 and (a > 1 or (a = 1 and b < 2))`. The condition `a >= 1` lets a scan of an index on `a` start at the position.
 * @param values driver values, one per field of the order.
 */
export function after(engine: Engine, order: readonly Order[], values: readonly unknown[]): Where {
  const uniform
    = order.length > 1
      && order.every(({ field, descending }, index) => !field.nullable && values[index] !== null && descending === order[0]!.descending)
      && !values.some(isInfinite)
  return uniform && engine.adapter.tupleComparison ? afterTuple(order, values) : afterEach(engine, order, values)
}

/** Builds `(a, b) > (?, ?)`, which can use an index over both columns. */
function afterTuple(order: readonly Order[], values: readonly unknown[]): Where {
  const columns = commaList(order.map(operandOf))
  return where`(${columns}) ${order[0]!.descending ? word('<') : word('>')} (${commaList(values.map(value))})`
}

/** Builds one branch per column: the columns before it are equal, and the column itself is after the position. */
function afterEach(engine: Engine, order: readonly Order[], values: readonly unknown[]): Where {
  if (order.length === 1) return strictlyAfter(engine, order[0]!, values[0]) ?? NO_ROWS
  const parts: Where[] = []
  order.forEach((_, index) => {
    const later = strictlyAfter(engine, order[index]!, values[index])
    if (later) parts.push(allOf([...order.slice(0, index).map((entry, before) => sameValue(engine, entry, values[before])), later]))
  })
  const start = atOrAfter(engine, order[0]!, values[0])
  const anyPart = parts.length === 0 ? NO_ROWS : where`(${joined(parts, ' or ')})`
  return allOf(start ? [start, anyPart] : [anyPart])
}

const allOf = (parts: readonly Where[]): Where => parts.length === 1 ? parts[0]! : where`(${joined(parts, ' and ')})`

const isInfinite = (value: unknown) => value === Infinity || value === -Infinity

const operandOf = ({ field, computed }: Order): Part => computed ? computed.value : field.column

/** A value to compare with. The drivers of libSQL refuse to bind infinite numbers, so SQLite gets a literal that is infinite. */
function operand({ dialect }: Engine, field: SortedValue, value: unknown): Part {
  if (dialect !== 'sqlite' || !isInfinite(value)) return bound(field, value)
  return value === Infinity ? word('9e999') : word('-9e999')
}

function sameValue(engine: Engine, order: Order, value: unknown): Where {
  return value === null ? where`${operandOf(order)} is null` : where`${operandOf(order)} = ${operand(engine, order.field, value)}`
}

const sortsNullsFirst = ({ adapter }: Engine, { descending, computed }: Order) =>
  computed ? descending : adapter.nullsLow !== descending

/** Selects the rows strictly after a value of one column. Returns `undefined` if no value can follow. */
function strictlyAfter(engine: Engine, order: Order, value: unknown): Where | undefined {
  const nullsFirst = sortsNullsFirst(engine, order)
  if (value === null) return nullsFirst ? where`${operandOf(order)} is not null` : undefined
  return compare(engine, order, order.descending ? '<' : '>', value, order.field.nullable && !nullsFirst)
}

/** Selects the rows at or after a value of the first column, where an index scan can start. No index contains computed values. */
function atOrAfter(engine: Engine, order: Order, value: unknown): Where | undefined {
  const { field, descending, computed } = order
  if (computed || value === null || (field.nullable && !sortsNullsFirst(engine, order))) return undefined
  return compare(engine, order, descending ? '<=' : '>=', value, false)
}

function compare(engine: Engine, order: Order, symbol: '<' | '>' | '<=' | '>=', value: unknown, orNull: boolean): Where {
  const comparison = where`${operandOf(order)} ${word(symbol)} ${operand(engine, order.field, value)}`
  return orNull ? where`(${comparison} or ${operandOf(order)} is null)` : comparison
}
