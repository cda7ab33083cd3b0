/** The order of a list, and the condition for the rows after a position. Every order ends with the primary key, so it has no ties. */
import type { Engine } from '../../engines/engine'
import type { Field } from '../../schema/field'
import { bound, isNotNull, isNull, NO_ROWS } from './conditions'
import { commaList, joined, value, where, word, type Part, type Where } from './where'

export interface Order {
  readonly field: Field
  readonly descending: boolean
}

export function orderKey(order: readonly Order[]): string {
  return order.map(({ field, descending }) => `${descending ? '-' : ''}${field.name}`).join(',')
}

export const orderList = (order: readonly Order[]): Where =>
  commaList(order.map(({ field, descending }) => descending ? where`${field.column} desc` : field.column))

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
  const columns = commaList(order.map(({ field }) => field.column))
  return where`(${columns}) ${order[0]!.descending ? word('<') : word('>')} (${commaList(values.map(value))})`
}

/** Builds one branch per column: the columns before it are equal, and the column itself is after the position. */
function afterEach(engine: Engine, order: readonly Order[], values: readonly unknown[]): Where {
  if (order.length === 1) return strictlyAfter(engine, order[0]!, values[0]) ?? NO_ROWS
  const parts: Where[] = []
  order.forEach((_, index) => {
    const later = strictlyAfter(engine, order[index]!, values[index])
    if (later) parts.push(allOf([...order.slice(0, index).map(({ field }, before) => sameValue(engine, field, values[before])), later]))
  })
  const start = atOrAfter(engine, order[0]!, values[0])
  const anyPart = parts.length === 0 ? NO_ROWS : where`(${joined(parts, ' or ')})`
  return allOf(start ? [start, anyPart] : [anyPart])
}

const allOf = (parts: readonly Where[]): Where => parts.length === 1 ? parts[0]! : where`(${joined(parts, ' and ')})`

const isInfinite = (value: unknown) => value === Infinity || value === -Infinity

/** A value to compare with. The drivers of libSQL refuse to bind infinite numbers, so SQLite gets a literal that is infinite. */
function operand({ dialect }: Engine, field: Field, value: unknown): Part {
  if (dialect !== 'sqlite' || !isInfinite(value)) return bound(field, value)
  return value === Infinity ? word('9e999') : word('-9e999')
}

function sameValue(engine: Engine, field: Field, value: unknown): Where {
  return value === null ? isNull(field) : where`${field.column} = ${operand(engine, field, value)}`
}

/** Selects the rows strictly after a value of one column. Returns `undefined` if no value can follow. */
function strictlyAfter(engine: Engine, { field, descending }: Order, value: unknown): Where | undefined {
  const nullsFirst = engine.adapter.nullsLow !== descending
  if (value === null) return nullsFirst ? isNotNull(field) : undefined
  return compare(engine, field, descending ? '<' : '>', value, field.nullable && !nullsFirst)
}

/** Selects the rows at or after a value of the first column, where an index scan can start. */
function atOrAfter(engine: Engine, { field, descending }: Order, value: unknown): Where | undefined {
  const nullsLast = engine.adapter.nullsLow === descending
  return value === null || (field.nullable && nullsLast) ? undefined : compare(engine, field, descending ? '<=' : '>=', value, false)
}

function compare(engine: Engine, field: Field, symbol: '<' | '>' | '<=' | '>=', value: unknown, orNull: boolean): Where {
  const comparison = where`${field.column} ${word(symbol)} ${operand(engine, field, value)}`
  return orNull ? where`(${comparison} or ${isNull(field)})` : comparison
}
