/** The order of a list, and the condition for the rows after a position. Every order ends with the primary key, so it has no ties. */
import { sql, type SQL } from 'drizzle-orm'
import type { Engine } from '../../engines/engine'
import type { Field } from '../../schema/field'
import { bound, NO_ROWS, shapeOf, valuesOf, type Clause } from './clause'
import { orderShape, quoted, shape } from './shape'

export interface Order {
  readonly field: Field
  readonly descending: boolean
}

export function orderKey(order: readonly Order[]): string {
  return order.map(({ field, descending }) => `${descending ? '-' : ''}${field.name}`).join(',')
}

export function orderList(order: readonly Order[]): SQL {
  return sql.join(order.map(({ field, descending }) => descending ? sql`${field.column} desc` : sql`${field.column}`), sql`, `)
}

/**
 * Selects the rows after a position. For the order `a, b desc` and the position (1, 2), the condition is
 * `a >= 1 and (a > 1 or (a = 1 and b < 2))`. The condition `a >= 1` lets a scan of an index on `a` start at the position.
 * @param values driver values, one per field of the order.
 */
export function after(engine: Engine, order: readonly Order[], values: readonly unknown[]): Clause {
  const uniform
    = order.length > 1
      && order.every(({ field, descending }, index) => !field.nullable && values[index] !== null && descending === order[0]!.descending)
      && !values.some(isInfinite)
  return uniform && engine.adapter.tupleComparison ? afterTuple(order, values) : afterEach(engine, order, values)
}

/** Builds `(a, b) > (?, ?)`, which can use an index over both columns. */
function afterTuple(order: readonly Order[], values: readonly unknown[]): Clause {
  return {
    shape: shape`after ${orderShape(order)}`,
    values,
    build: () =>
      sql`(${sql.join(
        order.map(({ field }) => sql`${field.column}`),
        sql`, `,
      )}) ${sql.raw(order[0]!.descending ? '<' : '>')} (${sql.join(
        values.map(value => sql`${sql.param(value)}`),
        sql`, `,
      )})`,
  }
}

/** Builds one branch per column: the columns before it are equal, and the column itself is after the position. */
function afterEach(engine: Engine, order: readonly Order[], values: readonly unknown[]): Clause {
  if (order.length === 1) return strictlyAfter(engine, order[0]!, values[0]) ?? NO_ROWS
  const parts: Clause[] = []
  order.forEach((_, index) => {
    const later = strictlyAfter(engine, order[index]!, values[index])
    if (later) parts.push(allOf([...order.slice(0, index).map(({ field }, before) => sameValue(engine, field, values[before])), later]))
  })
  const start = atOrAfter(engine, order[0]!, values[0])
  const anyPart: Clause
    = parts.length === 0
      ? NO_ROWS
      : {
          shape: shape`any ${shapeOf(parts)}`,
          values: valuesOf(parts),
          build: () =>
            sql`(${sql.join(
              parts.map(part => part.build()),
              sql` or `,
            )})`,
        }
  return allOf(start ? [start, anyPart] : [anyPart])
}

function allOf(parts: readonly Clause[]): Clause {
  if (parts.length === 1) return parts[0]!
  return {
    shape: shape`both ${shapeOf(parts)}`,
    values: valuesOf(parts),
    build: () =>
      sql`(${sql.join(
        parts.map(part => part.build()),
        sql` and `,
      )})`,
  }
}

const isInfinite = (value: unknown) => value === Infinity || value === -Infinity

const PARAMETER = shape`?`

/** A value to compare with. The drivers of libSQL refuse to bind infinite numbers, so SQLite gets a literal that is infinite. */
function operand({ dialect }: Engine, field: Field, value: unknown): Clause {
  if (dialect !== 'sqlite' || !isInfinite(value)) return { shape: PARAMETER, values: [value], build: () => bound(field, value) }
  const literal = value === Infinity ? '9e999' : '-9e999'
  return { shape: shape`literal ${quoted(literal)}`, values: [], build: () => sql.raw(literal) }
}

function sameValue(engine: Engine, field: Field, value: unknown): Clause {
  if (value === null) return { shape: shape`${field.column} null`, values: [], build: () => sql`${field.column} is null` }
  const { shape: operandShape, values, build } = operand(engine, field, value)
  return { shape: shape`${field.column}=${operandShape}`, values, build: () => sql`${field.column} = ${build()}` }
}

/** Selects the rows strictly after a value of one column. Returns `undefined` if no value can follow. */
function strictlyAfter(engine: Engine, { field, descending }: Order, value: unknown): Clause | undefined {
  const nullsFirst = engine.adapter.nullsLow !== descending
  if (value === null)
    return nullsFirst ? { shape: shape`${field.column} set`, values: [], build: () => sql`${field.column} is not null` } : undefined
  return compare(engine, field, descending ? '<' : '>', value, field.nullable && !nullsFirst)
}

/** Selects the rows at or after a value of the first column, where an index scan can start. */
function atOrAfter(engine: Engine, { field, descending }: Order, value: unknown): Clause | undefined {
  const nullsLast = engine.adapter.nullsLow === descending
  return value === null || (field.nullable && nullsLast) ? undefined : compare(engine, field, descending ? '<=' : '>=', value, false)
}

function compare(engine: Engine, field: Field, symbol: '<' | '>' | '<=' | '>=', value: unknown, orNull: boolean): Clause {
  const { shape: operandShape, values, build } = operand(engine, field, value)
  return {
    shape: shape`${field.column}${symbol}${orNull}${operandShape}`,
    values,
    build: () =>
      orNull
        ? sql`(${field.column} ${sql.raw(symbol)} ${build()} or ${field.column} is null)`
        : sql`${field.column} ${sql.raw(symbol)} ${build()}`,
  }
}
