/** Columns that the API recognizes by name, for MySQL tables: spread them into a table and keep the property names. And whole tables. */
import { sql } from 'drizzle-orm'
import { datetime, index, int, json, mediumtext, mysqlTable, text, uniqueIndex, varchar, type AnyMySqlColumn } from 'drizzle-orm/mysql-core'
import { markTable, serverOwned } from './mark'

const time = (name: string) => datetime(name, { fsp: 3 })

const HIDDEN = { hidden: true }

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

/**
 * The columns of {@link auditLogTable}, for a table with further columns or indexes.
 * @example
 * export const auditLog = mysqlTable('audit_log', { ...auditLogColumns(), server: varchar('server', { length: 64 }) })
 */
export function auditLogColumns() {
  return {
    id: varchar('id', { length: 36 }).primaryKey(),
    at: time('at').notNull(),
    kind: varchar('kind', { length: 64 }).notNull(),
    resource: varchar('resource', { length: 100 }).notNull(),
    recordId: varchar('record_id', { length: 600 }),
    /** The other record of a link, which decides who can see the entry. */
    otherId: varchar('other_id', { length: 600 }).$defaultFn(serverOwned(() => null as unknown as string, HIDDEN)),
    rootId: varchar('root_id', { length: 600 }),
    userId: varchar('user_id', { length: 191 }),
    tokenId: varchar('token_id', { length: 191 }),
    via: varchar('via', { length: 32 }),
    tenantId: varchar('tenant_id', { length: 191 }),
    requestId: varchar('request_id', { length: 128 }),
    ip: varchar('ip', { length: 64 }),
    columns: json('columns').$type<string[]>(),
    before: json('before').$type<Record<string, unknown>>(),
    after: json('after').$type<Record<string, unknown>>(),
    reason: text('reason'),
  }
}

/**
 * The table of the plugin `auditLog`: one row for each changed row. Export it from your schema and register it as a resource.
 * @example
 * export const auditLog = auditLogTable()
 */
export function auditLogTable(name = 'audit_log') {
  return mysqlTable(name, auditLogColumns(), table => [
    index(`${name}_record`).on(table.resource, table.recordId, table.id),
    index(`${name}_kind`).on(table.resource, table.recordId, table.kind),
    index(`${name}_tenant`).on(table.tenantId, table.id),
    index(`${name}_at`).on(table.at),
  ])
}

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
