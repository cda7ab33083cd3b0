/** The table of the idempotency keys, for SQLite. */
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { markTable } from '../../../server/kit/tables'

const time = (name: string) => integer(name, { mode: 'timestamp_ms' })

/**
 * The table in which the plugin `idempotency` stores the keys of requests, together with their responses. Export the table from a file that
 * also contains a registered table.
 * @example
 * export const idempotencyKeys = idempotencyKeysTable()
 */
export function idempotencyKeysTable(name = 'idempotency_keys') {
  return markTable(sqliteTable(name, {
    id: text('id').primaryKey(),
    parent: text('parent'),
    recordId: text('record_id'),
    fingerprint: text('fingerprint').notNull(),
    grant: text('access'),
    status: integer('status'),
    body: text('body'),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at').notNull(),
  }, table => [index(`${name}_parent`).on(table.parent), index(`${name}_expires_at`).on(table.expiresAt)]), 'idempotencyKeys')
}
