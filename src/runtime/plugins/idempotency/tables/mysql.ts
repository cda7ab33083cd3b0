/** The table of the idempotency keys, for MySQL. */
import { datetime, index, int, mediumtext, mysqlTable, varchar } from 'drizzle-orm/mysql-core'
import { markTable } from '../../../server/kit/tables'

const time = (name: string) => datetime(name, { fsp: 3 })

/**
 * The table in which the plugin `idempotency` stores the keys of requests, together with their responses. Export the table from a file that
 * also contains a registered table.
 * @example
 * export const idempotencyKeys = idempotencyKeysTable()
 */
export function idempotencyKeysTable(name = 'idempotency_keys') {
  return markTable(mysqlTable(name, {
    id: varchar('id', { length: 64 }).primaryKey(),
    parent: varchar('parent', { length: 64 }),
    recordId: varchar('record_id', { length: 500 }),
    fingerprint: varchar('fingerprint', { length: 64 }).notNull(),
    grant: varchar('access', { length: 64 }),
    status: int('status'),
    body: mediumtext('body'),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at').notNull(),
  }, table => [index(`${name}_parent`).on(table.parent), index(`${name}_expires_at`).on(table.expiresAt)]), 'idempotencyKeys')
}
