/** Facts about a column's type that more than one dialect needs. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import type { Kind } from '../../../shared/wire'

/** An enum type of the database: it sorts by the order in which the type lists its values. */
export const isEnum = (column: Column): boolean => /^(?:Pg|MySql)Enum/.test(column.columnType)

/** Kinds whose values have more digits than a double. */
export const isExact = (kind: Kind): boolean => kind === 'bigint' || kind === 'decimal'

const SERIAL: Readonly<Record<string, string>> = { serial: 'integer', bigserial: 'bigint', smallserial: 'smallint' }

/** `serial` is an integer with a default: a key and the foreign key to it have one type. */
export const withoutSerial = (type: string): string => SERIAL[type] ?? type

/** A condition, a value or a text without anything around it. */
export const unchanged = (value: SQL): SQL => value

/** `select a, row_number() over () as n from t` */
export const numberedByWindow = (columns: SQL, table: SQL, number: SQL): SQL =>
  sql`select ${columns}, row_number() over () as ${number} from ${table}`

/** `select count(*) from (select … for update) as locked` */
export const countOf = (rows: SQL): SQL => sql`select count(*) from (${rows}) as locked`
