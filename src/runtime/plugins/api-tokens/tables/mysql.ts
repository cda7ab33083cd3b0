/** The table of API tokens, for MySQL. */
import { datetime, json, mysqlTable, varchar } from 'drizzle-orm/mysql-core'
import { serverOwned } from '../../../server/kit/tables'

const time = (name: string) => datetime(name, { fsp: 3 })

const HIDDEN = { hidden: true }

/**
 * The columns of API tokens, for a table that also has columns of the app. Keep the property names. Clients write only `name`, `scopes` and
 * `expiresAt`.
 * @example
 * export const apiTokens = mysqlTable('api_tokens', { ...apiTokensColumns(), note: text('note') })
 */
export function apiTokensColumns() {
  return {
    id: varchar('id', { length: 36 }).primaryKey().$defaultFn(serverOwned(() => globalThis.crypto.randomUUID())),
    name: varchar('name', { length: 100 }).notNull(),
    /** The id of the owner, as text. */
    userId: varchar('user_id', { length: 191 }).notNull().$defaultFn(serverOwned(() => '')),
    /** The organization of the owner, as text. */
    organizationId: varchar('organization_id', { length: 191 }).$defaultFn(serverOwned(() => null as unknown as string)),
    /** `null`: everything that the owner can do. */
    scopes: json('scopes').$type<string[]>(),
    /** The first 8 characters of the token. */
    start: varchar('start', { length: 8 }).notNull().$defaultFn(serverOwned(() => '')),
    /** The SHA-256 of the token, as hexadecimal text. */
    tokenHash: varchar('token_hash', { length: 64 }).notNull().unique().$defaultFn(serverOwned(() => '', HIDDEN)),
    /** The token before the last rotation, and the end of its grace period. */
    previousHash: varchar('previous_hash', { length: 64 }).unique().$defaultFn(serverOwned(() => null as unknown as string, HIDDEN)),
    previousUntil: time('previous_until').$defaultFn(serverOwned(() => null as unknown as Date, HIDDEN)),
    expiresAt: time('expires_at'),
    lastUsedAt: time('last_used_at').$defaultFn(serverOwned(() => null as unknown as Date)),
    createdAt: time('created_at').notNull().$defaultFn(serverOwned(() => new Date())),
    updatedAt: time('updated_at').notNull().$defaultFn(() => new Date()),
    deletedAt: time('deleted_at'),
    deletedBy: varchar('deleted_by', { length: 191 }),
    deletionId: varchar('deletion_id', { length: 36 }),
  }
}

/**
 * The table of API tokens, for the plugin `apiTokens`. Export it from your schema, and register it.
 * @example
 * export const apiTokens = apiTokensTable()
 */
export function apiTokensTable(name = 'api_tokens') {
  return mysqlTable(name, apiTokensColumns())
}
