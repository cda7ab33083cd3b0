/** Lists on SQLite: one JSON parameter, so that every length has the same text. Lists with binary values have one parameter per value. */
import { sql } from 'drizzle-orm'
import type { Engine } from '../../../engines/engine'
import { bound, type ComparableColumn } from '../conditions'
import { commaList, value, where, type Where } from '../where'
import { padded, type ListSql, type Tuple } from './list-sql'

/** Ignores `exact`: SQLite compares with the collation of the left side, so the list needs no collation. */
export const sqliteList: ListSql = (engine, columns, tuples) =>
  tuples.some(tuple => tuple.some(isBytes)) ? bytesList(engine, columns, tuples) : jsonList(columns, tuples)

const isBytes = (value: unknown) => value instanceof Uint8Array

/**
 * Builds `(select value from json_each(?))` for one column,
 * and `(select value ->> 0, value ->> 1 from json_each(?))` for several columns.
 */
function jsonList(columns: readonly ComparableColumn[], tuples: readonly Tuple[]): Where {
  const single = columns.length === 1
  const json = JSON.stringify(single ? tuples.map(([value]) => value) : tuples)
  const item = ({ compare }: ComparableColumn, text: string) => compare ? compare(sql.raw(text)) : sql.raw(text)
  if (single) return where`(select ${item(columns[0]!, 'value')} from json_each(${value(json)}))`
  return where`(select ${commaList(columns.map((column, index) => item(column, `value ->> ${index}`)))} from json_each(${value(json)}))`
}

/** Builds `(values (?), (?))`, because JSON cannot contain bytes. Rounds the length up if the engine accepts that many parameters. */
function bytesList({ maxParameters }: Engine, columns: readonly ComparableColumn[], tuples: readonly Tuple[]): Where {
  const rows = padded(tuples, maxParameters / columns.length)
  return where`(values ${commaList(rows.map(tuple => where`(${commaList(tuple.map((value, index) => bound(columns[index]!, value)))})`))})`
}
