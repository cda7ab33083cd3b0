/** Facts about column types, and SQL that more than one dialect uses. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import type { Kind } from '../../../shared/wire'
import { typeOf } from '../../drizzle/index'

/** Whether the column has an enum type of the database. Such a column sorts in the order in which the type lists its values. */
export const isEnum = (column: Column): boolean => /^(?:Pg|MySql)Enum/.test(typeOf(column))

/** Whether values of this kind can have more digits than a double. */
export const isExact = (kind: Kind): boolean => kind === 'bigint' || kind === 'decimal'

const SERIAL: Readonly<Record<string, string>> = { serial: 'integer', bigserial: 'bigint', smallserial: 'smallint' }

/** `serial` is an integer with a default, so a `serial` key and the `integer` foreign key to it have the same type. */
export const withoutSerial = (type: string): string => SERIAL[type] ?? type

/** Whether values of this kind can be long texts, bytes or documents. */
export const isLong = (kind: Kind): boolean => kind === 'text' || kind === 'json' || kind === 'blob' || kind === 'custom'

/** Returns the SQL as it is, if the dialect needs no conversion. */
export const unchanged = (value: SQL): SQL => value

/** `select a, row_number() over () as n from t` */
export const numberedByWindow = (columns: SQL, table: SQL, number: SQL): SQL =>
  sql`select ${columns}, row_number() over () as ${number} from ${table}`

/** `select count(*) from (select … for update) as locked` */
export const countOf = (rows: SQL): SQL => sql`select count(*) from (${rows}) as locked`
