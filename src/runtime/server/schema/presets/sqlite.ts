/** Columns that the API recognizes by name, for SQLite tables. Spread them into a table; rename nothing but the database column. */
import { isNull } from 'drizzle-orm'
import { integer, text, uniqueIndex, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'

const time = (name: string) => integer(name, { mode: 'timestamp_ms' })

/**
 * An integer key the database generates.
 * @example
 * export const posts = sqliteTable('posts', { ...id(), title: text('title').notNull(), ...timestamps(), ...softDelete() })
 */
export function id() {
  return { id: integer('id').primaryKey({ autoIncrement: true }) }
}

/** `createdAt` and `updatedAt`, stamped by the server, in milliseconds. */
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

/** `createdBy` and `updatedBy`, stamped with the caller's id. */
export function audit() {
  return { createdBy: integer('created_by'), updatedBy: integer('updated_by') }
}

/** The tenant column, stamped from the resolved tenant. */
export function tenant() {
  return { organizationId: integer('organization_id').notNull() }
}

/** The trash: a row is deleted by a stamp, and comes back with everything that went with it. */
export function softDelete() {
  return {
    deletedAt: time('deleted_at'),
    deletedBy: integer('deleted_by'),
    deletionId: text('deletion_id'),
    deletedReason: text('deleted_reason'),
  }
}

/**
 * Unique among rows that are not in the trash: a name is free again once its row is deleted.
 * @example
 * (table) => [liveUnique('posts_slug', table, table.organizationId, table.slug)]
 */
export function liveUnique(name: string, table: { deletedAt: AnySQLiteColumn }, ...columns: [AnySQLiteColumn, ...AnySQLiteColumn[]]) {
  return uniqueIndex(name).on(...columns).where(isNull(table.deletedAt))
}
