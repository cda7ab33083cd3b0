/** The adapters of all dialects, by name. */
import { is, type Column } from 'drizzle-orm'
import { MySqlColumn } from 'drizzle-orm/mysql-core'
import { PgColumn } from 'drizzle-orm/pg-core'
import type { Dialect } from '../../../shared/dialects'
import type { Bytewise, DialectAdapter } from './adapter'
import { mysql } from './mysql'
import { pg } from './pg'
import { sqlite } from './sqlite'

export const DIALECTS: Readonly<Record<Dialect, DialectAdapter>> = { sqlite, pg, mysql }

/** Compares a column by bytes; see {@link DialectAdapter.bytewise}. */
export function bytewise(column: Column): Bytewise | undefined {
  return DIALECTS[is(column, PgColumn) ? 'pg' : is(column, MySqlColumn) ? 'mysql' : 'sqlite'].bytewise(column)
}
