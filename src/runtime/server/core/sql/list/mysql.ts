/** Lists on MySQL: one parameter per value. */
import { bound, type ComparableColumn } from '../conditions'
import { asSql, commaList, where, type Part } from '../where'
import { padded, type ListSql, type Tuple } from './list-sql'

/** Builds `(?, ?)` for one column, and `((?, ?), (?, ?))` for several columns. */
export const mysqlList: ListSql = ({ maxParameters }, columns, tuples, exact) => {
  // A comparison by bytes repeats the list.
  const copies = columns.some(({ bytes }) => bytes) ? 2 : 1
  const rows = padded(tuples, maxParameters / (copies * columns.length))
  const item = (column: ComparableColumn, value: unknown): Part =>
    exact && column.bytes ? column.bytes.operand(asSql(bound(column, value))) : bound(column, value)
  const items = (tuple: Tuple) => commaList(tuple.map((value, index) => item(columns[index]!, value)))
  return where`(${commaList(rows.map(tuple => columns.length === 1 ? items(tuple) : where`(${items(tuple)})`))})`
}
