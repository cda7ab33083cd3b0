/** Columns that the API recognizes by name, for MySQL tables: spread them into a table and keep the property names. And whole tables. */
import { sql } from 'drizzle-orm'
import { datetime, int, mysqlTable, uniqueIndex, varchar, type AnyMySqlColumn } from 'drizzle-orm/mysql-core'
import { markTable } from './mark'

const time = (name: string) => datetime(name, { fsp: 3 })

/**
 * An integer primary key that the database generates.
 * @example
 * export const posts = mysqlTable('posts', {
 *   ...id(), title: varchar('title', { length: 200 }).notNull(), ...timestamps(), ...softDelete(),
 * })
 */
export function id() {
  return { id: int('id').primaryKey().autoincrement() }
}

/** `createdAt` and `updatedAt`. The server sets both, with milliseconds. */
export function timestamps() {
  return {
    createdAt: time('created_at')
      .notNull()
      .$defaultFn(() => new Date()),
    updatedAt: time('updated_at')
      .notNull()
      .$defaultFn(() => new Date()),
  }
}

/** `createdBy` and `updatedBy`. The server sets both to the caller's id. */
export function audit() {
  return { createdBy: int('created_by'), updatedBy: int('updated_by') }
}

/** The tenant column. The server sets it to the caller's tenant. */
export function tenant() {
  return { organizationId: int('organization_id').notNull() }
}

/** Columns for soft delete. A delete sets them. A restore clears them in the row and in the rows deleted with it. */
export function softDelete() {
  return {
    deletedAt: time('deleted_at'),
    deletedBy: int('deleted_by'),
    deletionId: varchar('deletion_id', { length: 36 }),
    deletedReason: varchar('deleted_reason', { length: 500 }),
  }
}

/**
 * A unique index over the rows that are not in the trash. A new row can reuse the values of a row in the trash.
 *
 * MySQL has no partial indexes. Instead, the index key of a row in the trash ends in NULL, and keys with NULL do not conflict.
 * Requires functional key parts: MySQL 8.0.13 or later, not MariaDB.
 * @example
 * (table) => [liveUnique('posts_slug', table, table.organizationId, table.slug)]
 */
export function liveUnique(name: string, table: { deletedAt: AnyMySqlColumn }, ...columns: [AnyMySqlColumn, ...AnyMySqlColumn[]]) {
  return uniqueIndex(name).on(...columns, sql`((case when ${table.deletedAt} is null then 1 end))`)
}

/**
 * The table with which several servers run each due task once: the server that writes the row runs the task. Export the table from a file
 * that also contains a registered table.
 * @example
 * export const taskRuns = taskRunsTable()
 */
export function taskRunsTable(name = 'task_runs') {
  return markTable(mysqlTable(name, { task: varchar('task', { length: 191 }).primaryKey(), due: time('due').notNull() }), 'taskRuns')
}
