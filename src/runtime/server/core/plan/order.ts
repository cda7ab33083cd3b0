/** The order of a list: `sort`, `cursorFields`, then the primary key. */
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import { invalidQuery, quote } from '../error'
import { requireField, type Selection } from '../access/fields'
import type { PlannedOrder, RelatedOrder } from '../access/plan'
import type { SortField } from '../parse/params'
import type { SortedBy } from '../sql/keyset'

/** The values of related rows by their names in `sort`. */
export type RelatedSorts = ReadonlyMap<string, Pick<RelatedOrder, 'field' | 'related'>>

/**
 * Sorts by `sort`, then by `cursorFields`, then by the primary key. The primary key has the direction of the last field before it.
 * @param related the values of related rows that `sort` names
 * @throws `UNKNOWN_FIELD`, and `INVALID_QUERY` for a field that has no order.
 */
export function planOrder(
  resource: Resource,
  readable: Selection,
  sort: readonly SortField[],
  cursorFields: readonly SortField[],
  parameter = 'sort',
  related?: RelatedSorts,
): readonly PlannedOrder[] {
  const order: PlannedOrder[] = []
  const add = (field: Field, descending: boolean) => {
    if (!order.some(existing => existing.field === field && existing.path === undefined)) order.push({ field, descending })
  }
  for (const { name, descending } of sort) {
    const value = related?.get(name)
    if (!value) add(sortable(requireField(readable, name, parameter), parameter), descending)
    else if (!order.some(({ path }) => path === name)) order.push({ ...value, path: name, descending })
  }
  for (const { name, descending } of cursorFields) {
    // `id`, the default of `cursorFields`, means the primary key, even if its column has another name.
    if (name === 'id' && !resource.fields.has('id')) for (const field of resource.primaryKey) add(field, descending)
    else add(sortable(requireField(readable, name, 'cursorFields'), 'cursorFields'), descending)
  }
  const descending = order.at(-1)?.descending ?? false
  for (const field of resource.primaryKey) add(field, descending)
  return order
}

/** @throws `INVALID_QUERY` for an order by values that change without a write: a later request or batch would skip or repeat rows. */
export function assertSteady(order: readonly SortedBy[], advice = ''): void {
  const one = order.find(({ field }) => field.volatile)
  if (!one) return
  const name = quote(one.path ?? one.field.name)
  throw invalidQuery(`\`sort\`: ${name} changes over time, so rows cannot be read in parts.${advice}`, 'sort')
}

export function sortable(field: Field, parameter: string, name = field.name): Field {
  if (!field.ordered) throw invalidQuery(`\`${parameter}\`: ${quote(name)} has no order.`, parameter)
  return field
}
