/** Columns that the API recognizes by name, for SQLite tables: spread them into a table and keep the property names. And whole tables. */
import { isNull } from 'drizzle-orm'
import { integer, sqliteTable, text, uniqueIndex, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { markTable } from './mark'

const time = (name: string) => integer(name, { mode: 'timestamp_ms' })

/**
 * An integer primary key that the database generates.
 * @example
 * export const posts = sqliteTable('posts', { ...id(), title: text('title').notNull(), ...timestamps(), ...softDelete() })
 */
export function id() {
  return { id: integer('id').primaryKey({ autoIncrement: true }) }
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
  return { createdBy: integer('created_by'), updatedBy: integer('updated_by') }
}

/** The tenant column. The server sets it to the caller's tenant. */
export function tenant() {
  return { organizationId: integer('organization_id').notNull() }
}

/** Columns for soft delete. A delete sets them. A restore clears them in the row and in the rows deleted with it. */
export function softDelete() {
  return {
    deletedAt: time('deleted_at'),
    deletedBy: integer('deleted_by'),
    deletionId: text('deletion_id'),
    deletedReason: text('deleted_reason'),
  }
}

/**
 * A unique index over the rows that are not in the trash. A new row can reuse the values of a row in the trash.
 * @example
 * (table) => [liveUnique('posts_slug', table, table.organizationId, table.slug)]
 */
export function liveUnique(name: string, table: { deletedAt: AnySQLiteColumn }, ...columns: [AnySQLiteColumn, ...AnySQLiteColumn[]]) {
  return uniqueIndex(name).on(...columns).where(isNull(table.deletedAt))
}

/**
 * The table with which several servers run each due task once: the server that writes the row runs the task. Export the table from a file
 * that also contains a registered table.
 * @example
 * export const taskRuns = taskRunsTable()
 */
export function taskRunsTable(name = 'task_runs') {
  return markTable(sqliteTable(name, { task: text('task').primaryKey(), due: time('due').notNull() }), 'taskRuns')
}
