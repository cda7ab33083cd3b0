/** Columns that the API recognizes by name, for Postgres tables: spread them into a table and keep the property names. And whole tables. */
import { isNull } from 'drizzle-orm'
import { index, integer, jsonb, pgTable, text, timestamp, uniqueIndex, uuid, varchar, type AnyPgColumn } from 'drizzle-orm/pg-core'
import { markTable, serverOwned } from './mark'

const time = (name: string) => timestamp(name, { withTimezone: true })

const HIDDEN = { hidden: true }

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

/**
 * The columns of API tokens, for a table that also has columns of the app. Keep the property names. Clients write only `name`, `scopes` and
 * `expiresAt`.
 * @example
 * export const apiTokens = pgTable('api_tokens', { ...apiTokensColumns(), note: text('note') })
 */
export function apiTokensColumns() {
  return {
    id: text('id').primaryKey().$defaultFn(serverOwned(() => globalThis.crypto.randomUUID())),
    name: varchar('name', { length: 100 }).notNull(),
    /** The id of the owner, as text. */
    userId: text('user_id').notNull().$defaultFn(serverOwned(() => '')),
    /** The organization of the owner, as text. */
    organizationId: text('organization_id').$defaultFn(serverOwned(() => null as unknown as string)),
    /** `null`: everything that the owner can do. */
    scopes: jsonb('scopes').$type<string[]>(),
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
    deletionId: uuid('deletion_id'),
  }
}

/**
 * The table of API tokens, for the plugin `apiTokens`. Export it from your schema, and register it.
 * @example
 * export const apiTokens = apiTokensTable()
 */
export function apiTokensTable(name = 'api_tokens') {
  return pgTable(name, apiTokensColumns())
}

/**
 * The columns of {@link auditLogTable}, for a table with further columns or indexes.
 * @example
 * export const auditLog = pgTable('audit_log', { ...auditLogColumns(), server: text('server') })
 */
export function auditLogColumns() {
  return {
    id: uuid('id').primaryKey(),
    at: time('at').notNull(),
    kind: text('kind').notNull(),
    resource: text('resource').notNull(),
    recordId: text('record_id'),
    /** The other record of a link, which decides who can see the entry. */
    otherId: text('other_id').$defaultFn(serverOwned(() => null as unknown as string, HIDDEN)),
    rootId: text('root_id'),
    userId: text('user_id'),
    tokenId: text('token_id'),
    via: text('via'),
    tenantId: text('tenant_id'),
    requestId: text('request_id'),
    ip: text('ip'),
    columns: jsonb('columns').$type<string[]>(),
    before: jsonb('before').$type<Record<string, unknown>>(),
    after: jsonb('after').$type<Record<string, unknown>>(),
    reason: text('reason'),
  }
}

/**
 * The table of the plugin `auditLog`: one row for each changed row. Export it from your schema and register it as a resource.
 * @example
 * export const auditLog = auditLogTable()
 */
export function auditLogTable(name = 'audit_log') {
  return pgTable(name, auditLogColumns(), table => [
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
  return markTable(pgTable(name, {
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
