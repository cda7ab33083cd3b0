/** In which order, and what comes after a place in it: every order ends in the primary key, so that it has no ties. */
import { sql, type SQL } from 'drizzle-orm'
import { DIALECTS } from '../../engines/dialects'
import { orderShape, shape } from '../sql/shape'
import type { Dialect } from '../../schema/drizzle'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import { invalidQuery, quote } from '../error'
import { requireField, type Selection } from '../access/fields'
import type { SortAsk } from '../parse/params'
import { bound, NOTHING, shapeOf, valuesOf, type Clause } from '../sql/clause'

export interface Order {
  readonly field: Field
  readonly descending: boolean
}

/**
 * `sort`, then `cursorFields`, then the primary key in the direction of the last field before it.
 * @throws `UNKNOWN_FIELD`, and `INVALID_QUERY` for a field that has no order.
 */
export function planOrder(resource: Resource, readable: Selection, sort: readonly SortAsk[], cursorFields: readonly SortAsk[] = [], parameter = 'sort'): readonly Order[] {
  const order: Order[] = []
  const add = (field: Field, descending: boolean) => {
    if (!order.some(known => known.field === field)) order.push({ field, descending })
  }
  for (const { name, descending } of sort) add(sortable(requireField(readable, name, parameter), parameter), descending)
  for (const { name, descending } of cursorFields) {
    // The default names the primary key, whatever it is called.
    if (name === 'id' && !resource.fields.has('id')) for (const field of resource.primaryKey) add(field, descending)
    else add(sortable(requireField(readable, name, 'cursorFields'), 'cursorFields'), descending)
  }
  const descending = order.at(-1)?.descending ?? false
  for (const field of resource.primaryKey) add(field, descending)
  return order
}

function sortable(field: Field, parameter: string): Field {
  if (!field.ordered) throw invalidQuery(`\`${parameter}\`: ${quote(field.name)} has no order.`, parameter)
  return field
}

export function orderKey(order: readonly Order[]): string {
  return order.map(({ field, descending }) => `${descending ? '-' : ''}${field.name}`).join(',')
}

export function orderList(order: readonly Order[]): SQL {
  return sql.join(order.map(({ field, descending }) => descending ? sql`${field.column} desc` : sql`${field.column}`), sql`, `)
}

/**
 * The rows after a place. For `a, b desc` after (1, 2):
 * `a >= 1 and (a > 1 or (a = 1 and b < 2))`: the first bound lets an index on `a` begin there.
 * @param values driver values, one per field of the order.
 */
export function after(dialect: Dialect, order: readonly Order[], values: readonly unknown[]): Clause {
  const uniform = order.length > 1 && order.every(({ field, descending }, index) => !field.nullable && values[index] !== null && descending === order[0]!.descending)
  return uniform && DIALECTS[dialect].tuples ? afterTuple(order, values) : afterEach(dialect, order, values)
}

/** `(a, b) > (?, ?)`: what an index over both columns is read by. */
function afterTuple(order: readonly Order[], values: readonly unknown[]): Clause {
  return {
    shape: shape`after ${orderShape(order)}`,
    values,
    build: () => sql`(${sql.join(order.map(({ field }) => sql`${field.column}`), sql`, `)}) ${sql.raw(order[0]!.descending ? '<' : '>')} (${sql.join(values.map(value => sql`${sql.param(value)}`), sql`, `)})`,
  }
}

function afterEach(dialect: Dialect, order: readonly Order[], values: readonly unknown[]): Clause {
  const parts: Clause[] = []
  order.forEach((_, index) => {
    const last = beyond(dialect, order[index]!, values[index])
    if (last) parts.push(join([...order.slice(0, index).map(({ field }, before) => same(field, values[before])), last]))
  })
  const start = order.length > 1 ? reached(dialect, order[0]!, values[0]) : undefined
  const any: Clause = parts.length === 0
    ? NOTHING
    : { shape: shape`any ${shapeOf(parts)}`, values: valuesOf(parts), build: () => sql`(${sql.join(parts.map(part => part.build()), sql` or `)})` }
  return join(start ? [start, any] : [any])
}

function join(parts: readonly Clause[]): Clause {
  if (parts.length === 1) return parts[0]!
  return { shape: shape`both ${shapeOf(parts)}`, values: valuesOf(parts), build: () => sql`(${sql.join(parts.map(part => part.build()), sql` and `)})` }
}

function same(field: Field, value: unknown): Clause {
  return value === null
    ? { shape: shape`${field.column} null`, values: [], build: () => sql`${field.column} is null` }
    : { shape: shape`${field.column}=`, values: [value], build: () => sql`${field.column} = ${bound(field, value)}` }
}

/** Strictly after a value in one column; nothing when the value is the last there can be. */
function beyond(dialect: Dialect, { field, descending }: Order, value: unknown): Clause | undefined {
  const nullsFirst = DIALECTS[dialect].nullsLow !== descending
  if (value === null) return nullsFirst ? { shape: shape`${field.column} set`, values: [], build: () => sql`${field.column} is not null` } : undefined
  return compare(field, descending ? '<' : '>', value, field.nullable && !nullsFirst)
}

/** At or after a value in the first column: where an index may begin to read. */
function reached(dialect: Dialect, { field, descending }: Order, value: unknown): Clause | undefined {
  const nullsLast = DIALECTS[dialect].nullsLow === descending
  return value === null || (field.nullable && nullsLast) ? undefined : compare(field, descending ? '<=' : '>=', value, false)
}

function compare(field: Field, symbol: '<' | '>' | '<=' | '>=', value: unknown, orNull: boolean): Clause {
  return {
    shape: shape`${field.column}${symbol}${orNull}`,
    values: [value],
    build: () => orNull ? sql`(${field.column} ${sql.raw(symbol)} ${bound(field, value)} or ${field.column} is null)` : sql`${field.column} ${sql.raw(symbol)} ${bound(field, value)}`,
  }
}
