/** Columns that the API recognizes by name, for MySQL tables. Spread them into a table; rename nothing but the database column. */
import { sql } from 'drizzle-orm'
import { datetime, int, uniqueIndex, varchar, type AnyMySqlColumn } from 'drizzle-orm/mysql-core'

const time = (name: string) => datetime(name, { fsp: 3 })

/**
 * An integer key the database generates.
 * @example
 * export const posts = mysqlTable('posts', {
 *   ...id(), title: varchar('title', { length: 200 }).notNull(), ...timestamps(), ...softDelete(),
 * })
 */
export function id() {
  return { id: int('id').primaryKey().autoincrement() }
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
  return { createdBy: int('created_by'), updatedBy: int('updated_by') }
}

/** The tenant column, stamped from the resolved tenant. */
export function tenant() {
  return { organizationId: int('organization_id').notNull() }
}

/** The trash: a row is deleted by a stamp, and comes back with everything that went with it. */
export function softDelete() {
  return {
    deletedAt: time('deleted_at'),
    deletedBy: int('deleted_by'),
    deletionId: varchar('deletion_id', { length: 36 }),
    deletedReason: varchar('deleted_reason', { length: 500 }),
  }
}

/**
 * Unique among rows that are not in the trash: a name is free again once its row is deleted. MySQL has no partial
 * indexes; a trashed row's key ends in a NULL, which equals nothing. Needs functional key parts (MySQL 8.0.13; not MariaDB).
 * @example
 * (table) => [liveUnique('posts_slug', table, table.organizationId, table.slug)]
 */
export function liveUnique(name: string, table: { deletedAt: AnyMySqlColumn }, ...columns: [AnyMySqlColumn, ...AnyMySqlColumn[]]) {
  return uniqueIndex(name).on(...columns, sql`((case when ${table.deletedAt} is null then 1 end))`)
}
