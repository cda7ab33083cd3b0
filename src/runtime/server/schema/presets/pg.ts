/** Columns that the API recognizes by name, for Postgres tables: spread them into a table and keep the property names. And whole tables. */
import { isNull } from 'drizzle-orm'
import { integer, pgTable, text, timestamp, uniqueIndex, uuid, type AnyPgColumn } from 'drizzle-orm/pg-core'
import { markTable } from './mark'

const time = (name: string) => timestamp(name, { withTimezone: true })

/**
 * An integer primary key that the database generates.
 * @example
 * export const posts = pgTable('posts', { ...id(), title: text('title').notNull(), ...timestamps(), ...softDelete() })
 */
export function id() {
  return { id: integer('id').primaryKey().generatedAlwaysAsIdentity() }
}

/** `createdAt` and `updatedAt`. The server sets both. */
export function timestamps() {
  return { createdAt: time('created_at').notNull().defaultNow(), updatedAt: time('updated_at').notNull().defaultNow() }
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
    deletionId: uuid('deletion_id'),
    deletedReason: text('deleted_reason'),
  }
}

/**
 * A unique index over the rows that are not in the trash. A new row can reuse the values of a row in the trash.
 * @example
 * (table) => [liveUnique('posts_slug', table, table.organizationId, table.slug)]
 */
export function liveUnique(name: string, table: { deletedAt: AnyPgColumn }, ...columns: [AnyPgColumn, ...AnyPgColumn[]]) {
  return uniqueIndex(name).on(...columns).where(isNull(table.deletedAt))
}

/**
 * The table with which several servers run each due task once: the server that writes the row runs the task. Export the table from a file
 * that also contains a registered table.
 * @example
 * export const taskRuns = taskRunsTable()
 */
export function taskRunsTable(name = 'task_runs') {
  return markTable(pgTable(name, { task: text('task').primaryKey(), due: time('due').notNull() }), 'taskRuns')
}
