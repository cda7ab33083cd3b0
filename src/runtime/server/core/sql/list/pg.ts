/** Lists on Postgres: one array per column, so that every length has the same text. */
import { sql, type SQL } from 'drizzle-orm'
import { postgresType } from '../../../engines/dialects/pg'
import { commaList, EMPTY, value, where, type Part } from '../where'
import type { ListSql } from './list-sql'

/**
 * Builds `(select unnest(cast(cast(? as text) as integer[])))`. The array is text, so that every driver sends it in the same format.
 * For a comparison by bytes: `(select v0, cast(v1 as text) collate "C" from unnest(…, …) as listed(v0, v1))`, with a name for each column.
 */
export const postgresList: ListSql = (_, columns, tuples, exact) => {
  const arrays = columns.map((_, index) => toArray(tuples.map(tuple => tuple[index])))
  const array = (index: number) => sql`cast(cast(${value(arrays[index])} as text) as ${postgresType(columns[index]!.column)}[])`
  const item = (index: number, item: SQL): SQL => exact ? columns[index]!.bytes?.operand(item) ?? item : item
  if (columns.length === 1) return where`(select ${item(0, sql`unnest(${array(0)})`)})`
  const names = columns.map((_, index) => sql.identifier(`v${index}`))
  const selection: Part = exact ? commaList(names.map((name, index) => item(index, sql`${name}`))) : where`*`
  const alias = exact ? where` as listed(${commaList(names)})` : EMPTY
  return where`(select ${selection} from unnest(${commaList(columns.map((_, index) => array(index)))})${alias})`
}

/** Formats an array as text: `{"a","it's",NULL}`. */
export function toArray(values: readonly unknown[]): string {
  return `{${values.map(value => value === null ? 'NULL' : `"${toElement(value).replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}

function toElement(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  return value instanceof Uint8Array ? `\\x${globalThis.Buffer.from(value).toString('hex')}` : String(value)
}
