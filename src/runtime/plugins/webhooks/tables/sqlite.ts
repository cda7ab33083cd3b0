/** The tables of webhooks and of their deliveries, for SQLite. */
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { serverOwned } from '../../../server/kit/tables'

const time = (name: string) => integer(name, { mode: 'timestamp_ms' })

const HIDDEN = { hidden: true }

/** The value of a column that the server sets later. */
const nothing = <T>() => null as unknown as T

/**
 * The columns of webhooks, for a table that also has columns of the app. Keep the property names. Clients write only `url`, `events`,
 * `description` and `active`.
 * @example
 * export const webhooks = sqliteTable('webhooks', { ...webhooksColumns(), team: text('team') })
 */
export function webhooksColumns() {
  return {
    id: text('id').primaryKey().$defaultFn(serverOwned(() => globalThis.crypto.randomUUID())),
    url: text('url', { length: 2048 }).notNull(),
    /** Such as `posts.created` and `posts.*`. */
    events: text('events', { mode: 'json' }).$type<string[]>().notNull(),
    description: text('description', { length: 200 }),
    active: integer('active', { mode: 'boolean' }).notNull().default(true),
    /** The id of the owner, as text. */
    owner: text('owner').notNull().$defaultFn(serverOwned(() => '')),
    /** The organization of the owner, as text. */
    organizationId: text('organization_id').$defaultFn(serverOwned(() => nothing<string>())),
    /** One of the places that the owner has in the organization. No two webhooks have the same, so there are no more than places. */
    slot: text('slot').notNull().unique().$defaultFn(serverOwned(() => '', HIDDEN)),
    /** Why the server has switched it off: `dead`, `gone` or `revoked`. */
    pausedReason: text('paused_reason').$defaultFn(serverOwned(() => nothing<string>())),
    /** The dead deliveries since the last one that was delivered. */
    failures: integer('failures').notNull().$defaultFn(serverOwned(() => 0)),
    secret: text('secret').notNull().$defaultFn(serverOwned(() => '', HIDDEN)),
    /** The secret before the last rotation, and the end of its grace period. */
    previousSecret: text('previous_secret').$defaultFn(serverOwned(() => nothing<string>(), HIDDEN)),
    previousUntil: time('previous_until').$defaultFn(serverOwned(() => nothing<Date>(), HIDDEN)),
    createdAt: time('created_at').notNull().$defaultFn(serverOwned(() => new Date())),
    updatedAt: time('updated_at').notNull().$defaultFn(() => new Date()),
  }
}

/**
 * The table of webhooks, for the plugin `webhooks`. Export it from your schema, and register it.
 * @example
 * export const webhooks = webhooksTable()
 */
export function webhooksTable(name = 'webhooks') {
  return sqliteTable(name, webhooksColumns(), table => [index(`${name}_owner`).on(table.organizationId, table.owner)])
}

/** The columns of {@link webhookDeliveriesTable}, for a table with further columns or indexes. Only the server writes them. */
export function webhookDeliveriesColumns() {
  return {
    id: text('id').primaryKey().$defaultFn(serverOwned(() => '')),
    webhookId: text('webhook_id').notNull().$defaultFn(serverOwned(() => '')),
    /** Such as `posts.created`, or `webhook.test`. */
    event: text('event').notNull().$defaultFn(serverOwned(() => '')),
    resource: text('resource').$defaultFn(serverOwned(() => nothing<string>())),
    recordId: text('record_id').$defaultFn(serverOwned(() => nothing<string>())),
    status: text('status', { enum: ['pending', 'delivered', 'failed', 'dead'] }).notNull()
      .$defaultFn(serverOwned(() => 'pending' as const)),
    attempts: integer('attempts').notNull().$defaultFn(serverOwned(() => 0)),
    responseStatus: integer('response_status').$defaultFn(serverOwned(() => nothing<number>())),
    /** The first kilobyte of the answer. */
    responseBody: text('response_body').$defaultFn(serverOwned(() => nothing<string>())),
    /** Why the last attempt failed. */
    error: text('error').$defaultFn(serverOwned(() => nothing<string>())),
    /** The time of the change. */
    createdAt: time('created_at').notNull().$defaultFn(serverOwned(() => new Date())),
    deliveredAt: time('delivered_at').$defaultFn(serverOwned(() => nothing<Date>())),
    /** The next attempt, or the end of the lease of the server that attempts it now. */
    dueAt: time('due_at').$defaultFn(serverOwned(() => nothing<Date>())),
    owner: text('owner').notNull().$defaultFn(serverOwned(() => '')),
    organizationId: text('organization_id').$defaultFn(serverOwned(() => nothing<string>())),
    /** The order of the changes. */
    position: integer('position').notNull().$defaultFn(serverOwned(() => 0, HIDDEN)),
    /** The server that attempts it now. */
    lease: text('lease').$defaultFn(serverOwned(() => nothing<string>(), HIDDEN)),
    /** What the change was: its columns, and the row as it was when the owner could see it. Empty after the first attempt. */
    columns: text('columns', { mode: 'json' }).$type<string[]>().$defaultFn(serverOwned(() => nothing<string[]>(), HIDDEN)),
    image: text('image', { mode: 'json' }).$type<Record<string, unknown>>()
      .$defaultFn(serverOwned(() => nothing<Record<string, unknown>>(), HIDDEN)),
  }
}

/**
 * The table of the deliveries of webhooks: the events that wait, and the log of those that were sent. Export it from your schema, and
 * register it.
 * @example
 * export const webhookDeliveries = webhookDeliveriesTable()
 */
export function webhookDeliveriesTable(name = 'webhook_deliveries') {
  return sqliteTable(name, webhookDeliveriesColumns(), table => [
    index(`${name}_due`).on(table.webhookId, table.dueAt, table.position),
    index(`${name}_record`).on(table.webhookId, table.resource, table.recordId, table.status, table.position),
    index(`${name}_position`).on(table.position),
    index(`${name}_created_at`).on(table.createdAt),
    index(`${name}_owner`).on(table.organizationId, table.owner, table.createdAt, table.id),
  ])
}
