/** Reads the configuration of a Drizzle table. Drizzle exports a different `getTableConfig` for each dialect. */
import type { Column } from 'drizzle-orm'
import { getTableColumns, getTableName, is, SQL, Table } from 'drizzle-orm'
import { getTableConfig as mysqlConfig, MySqlTable } from 'drizzle-orm/mysql-core'
import { getTableConfig as pgConfig, PgTable } from 'drizzle-orm/pg-core'
import { getTableConfig as sqliteConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Dialect } from '../../../shared/dialects'

export interface TableConfig {
  foreignKeys: {
    reference: () => { columns: Column[], foreignTable: Table, foreignColumns: Column[] }
    onDelete?: string
    onUpdate?: string
  }[]
  primaryKeys: { columns: Column[] }[]
  uniqueConstraints: { name?: string, columns: Column[] }[]
  checks: { name: string, value: SQL }[]
  indexes: { config: { name?: string, unique?: boolean, where?: unknown, columns: unknown[] } }[]
}

const DIALECTS: readonly { dialect: Dialect, type: unknown, config: (table: never) => unknown }[] = [
  { dialect: 'sqlite', type: SQLiteTable, config: sqliteConfig },
  { dialect: 'pg', type: PgTable, config: pgConfig },
  { dialect: 'mysql', type: MySqlTable, config: mysqlConfig },
]

export function isTable(value: unknown): value is Table {
  return is(value, Table)
}

export function readConfig(table: Table): { dialect: Dialect, config: TableConfig } {
  for (const { dialect, type, config } of DIALECTS) {
    if (is(table, type as never)) return { dialect, config: config(table as never) as TableConfig }
  }
  throw new TypeError('not a Drizzle table of sqlite-core, pg-core or mysql-core')
}

/** @param column a column of the table. An expression of a view has an alias as its name. */
export function propertyName(table: Table, column: Column | SQL.Aliased): string {
  const name = is(column, SQL.Aliased) ? column.fieldAlias : column.name
  const entry = Object.entries(getTableColumns(table)).find(([, own]) => own.name === name)
  if (!entry) throw new TypeError(`column "${name}" is not one of table "${getTableName(table)}"`)
  return entry[0]
}
