/** Lists on MySQL: one parameter per value. */
import { sql } from 'drizzle-orm'
import { bound, type ComparableColumn } from '../clause'
import { shape } from '../shape'
import { padded, type ListSql, type Tuple } from './list-sql'

/** Builds `(?, ?)` for one column, and `((?, ?), (?, ?))` for several columns. */
export const mysqlList: ListSql = ({ maxParameters }, columns, tuples, exact) => {
  // A comparison by bytes repeats the list.
  const copies = columns.some(({ bytes }) => bytes) ? 2 : 1
  const rows = padded(tuples, maxParameters / (copies * columns.length))
  const item = (column: ComparableColumn, value: unknown) =>
    exact && column.bytes ? column.bytes.operand(bound(column, value)) : bound(column, value)
  const items = (tuple: Tuple) => sql.join(tuple.map((value, index) => item(columns[index]!, value)), sql`, `)
  return {
    shape: shape`${columns.length} x ${rows.length}`,
    values: rows.flat(),
    build: () => sql`(${sql.join(rows.map(tuple => columns.length === 1 ? items(tuple) : sql`(${items(tuple)})`), sql`, `)})`,
  }
}
