/** The values of a row that decide its position in the order of a list: columns, and values that the database computes. */
import type { Row } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import type { Selection } from '../../access/fields'
import type { ComputedOrder, FieldOrder, Order } from '../../sql/keyset'
import type { Part } from '../../sql/where'

const isField = (order: Order): order is FieldOrder => order.computed === undefined
const isComputed = (order: Order): order is ComputedOrder => order.computed !== undefined

export const orderFields = (order: readonly Order[]): readonly Field[] => order.filter(isField).map(({ field }) => field)

/** The computed values of the order. They are the last ones of a select list. */
export const computedValues = (order: readonly Order[]): readonly Part[] =>
  order.filter(isComputed).map(({ computed }) => computed.selection)

/** Returns a function that reads the values of a cursor from a row. The query must have selected all of them. */
export function orderValues({ fields }: Selection, order: readonly Order[]): (row: Row) => readonly unknown[] {
  let fromEnd = -order.filter(isComputed).length
  const cells = order.map(({ field, computed }) =>
    computed ? { at: fromEnd++, read: computed.read } : { at: fields.indexOf(field), read: undefined })
  return row => cells.map(({ at, read }) => read ? read(row.at(at)) : row.at(at))
}
