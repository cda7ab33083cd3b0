/** The table of API tokens, for SQLite. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { serverOwned } from '../../../server/kit/tables'

const time = (name: string) => integer(name, { mode: 'timestamp_ms' })

const HIDDEN = { hidden: true }

/**
 * The columns of API tokens, for a table that also has columns of the app. Keep the property names. Clients write only `name`, `scopes` and
 * `expiresAt`.
 * @example
 * export const apiTokens = sqliteTable('api_tokens', { ...apiTokensColumns(), note: text('note') })
 */
export function apiTokensColumns() {
  return {
    id: text('id').primaryKey().$defaultFn(serverOwned(() => globalThis.crypto.randomUUID())),
    name: text('name', { length: 100 }).notNull(),
    /** The id of the owner, as text. */
    userId: text('user_id').notNull().$defaultFn(serverOwned(() => '')),
    /** The organization of the owner, as text. */
    organizationId: text('organization_id').$defaultFn(serverOwned(() => null as unknown as string)),
    /** `null`: everything that the owner can do. */
    scopes: text('scopes', { mode: 'json' }).$type<string[]>(),
    /** The first 8 characters of the token. */
    start: text('start').notNull().$defaultFn(serverOwned(() => '')),
    /** The SHA-256 of the token, as hexadecimal text. */
    tokenHash: text('token_hash').notNull().unique().$defaultFn(serverOwned(() => '', HIDDEN)),
    /** The token before the last rotation, and the end of its grace period. */
    previousHash: text('previous_hash').unique().$defaultFn(serverOwned(() => null as unknown as string, HIDDEN)),
    previousUntil: time('previous_until').$defaultFn(serverOwned(() => null as unknown as Date, HIDDEN)),
    expiresAt: time('expires_at'),
    lastUsedAt: time('last_used_at').$defaultFn(serverOwned(() => null as unknown as Date)),
    createdAt: time('created_at').notNull().$defaultFn(serverOwned(() => new Date())),
    updatedAt: time('updated_at').notNull().$defaultFn(() => new Date()),
    deletedAt: time('deleted_at'),
    deletedBy: text('deleted_by'),
    deletionId: text('deletion_id'),
  }
}

/**
 * The table of API tokens, for the plugin `apiTokens`. Export it from your schema, and register it.
 * @example
 * export const apiTokens = apiTokensTable()
 */
export function apiTokensTable(name = 'api_tokens') {
  return sqliteTable(name, apiTokensColumns())
}
