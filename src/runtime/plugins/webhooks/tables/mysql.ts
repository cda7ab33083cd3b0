/** The tables of webhooks and of their deliveries, for MySQL. */
import { sql } from 'drizzle-orm'
import { bigint, boolean, datetime, index, int, json, mysqlTable, uniqueIndex, varchar } from 'drizzle-orm/mysql-core'
import { serverOwned } from '../../../server/kit/tables'

const time = (name: string) => datetime(name, { fsp: 3 })

const HIDDEN = { hidden: true }

/** The value of a column that the server sets later. */
const nothing = <T>() => null as unknown as T

/**
 * The columns of webhooks, for a table that also has columns of the app. Keep the property names. Clients write only `url`, `events`,
 * `description` and `active`.
 * @example
 * export const webhooks = mysqlTable('webhooks', { ...webhooksColumns(), team: varchar('team', { length: 64 }) })
 */
export function webhooksColumns() {
  return {
    id: varchar('id', { length: 36 }).primaryKey().$defaultFn(serverOwned(() => globalThis.crypto.randomUUID())),
    url: varchar('url', { length: 2048 }).notNull(),
    /** Such as `posts.created` and `posts.*`. */
    events: json('events').$type<string[]>().notNull(),
    description: varchar('description', { length: 200 }),
    active: boolean('active').notNull().default(true),
    /** The id of the owner, as text. */
    owner: varchar('owner', { length: 191 }).notNull().$defaultFn(serverOwned(() => '')),
    /** The organization of the owner, as text. */
    organizationId: varchar('organization_id', { length: 191 }).$defaultFn(serverOwned(() => nothing<string>())),
    /** One of the places that the owner has in the organization. No two webhooks have the same, so there are no more than places. */
    slot: varchar('slot', { length: 80 }).notNull().unique().$defaultFn(serverOwned(() => '', HIDDEN)),
    /** Why the server has switched it off: `dead`, `gone` or `revoked`. */
    pausedReason: varchar('paused_reason', { length: 32 }).$defaultFn(serverOwned(() => nothing<string>())),
    /** The dead deliveries since the last one that was delivered. */
    failures: int('failures').notNull().$defaultFn(serverOwned(() => 0)),
    secret: varchar('secret', { length: 128 }).notNull().$defaultFn(serverOwned(() => '', HIDDEN)),
    /** The secret before the last rotation, and the end of its grace period. */
    previousSecret: varchar('previous_secret', { length: 128 }).$defaultFn(serverOwned(() => nothing<string>(), HIDDEN)),
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
  return mysqlTable(name, webhooksColumns(), table => [index(`${name}_owner`).on(table.organizationId, table.owner)])
}

/** The columns of {@link webhookDeliveriesTable}, for a table with further columns or indexes. Only the server writes them. */
export function webhookDeliveriesColumns() {
  return {
    id: varchar('id', { length: 36 }).primaryKey().$defaultFn(serverOwned(() => '')),
    webhookId: varchar('webhook_id', { length: 36 }).notNull().$defaultFn(serverOwned(() => '')),
    /** Such as `posts.created`, or `webhook.test`. */
    event: varchar('event', { length: 191 }).notNull().$defaultFn(serverOwned(() => '')),
    resource: varchar('resource', { length: 100 }).$defaultFn(serverOwned(() => nothing<string>())),
    recordId: varchar('record_id', { length: 600 }).$defaultFn(serverOwned(() => nothing<string>())),
    status: varchar('status', { length: 16, enum: ['pending', 'delivered', 'failed', 'dead'] }).notNull()
      .$defaultFn(serverOwned(() => 'pending' as const)),
    attempts: int('attempts').notNull().$defaultFn(serverOwned(() => 0)),
    responseStatus: int('response_status').$defaultFn(serverOwned(() => nothing<number>())),
    /** The first kilobyte of the answer. */
    responseBody: varchar('response_body', { length: 4096 }).$defaultFn(serverOwned(() => nothing<string>())),
    /** Why the last attempt failed. */
    error: varchar('error', { length: 500 }).$defaultFn(serverOwned(() => nothing<string>())),
    /** The time of the change. */
    createdAt: time('created_at').notNull().$defaultFn(serverOwned(() => new Date())),
    deliveredAt: time('delivered_at').$defaultFn(serverOwned(() => nothing<Date>())),
    /** The next attempt, or the end of the lease of the server that attempts it now. */
    dueAt: time('due_at').$defaultFn(serverOwned(() => nothing<Date>())),
    owner: varchar('owner', { length: 191 }).notNull().$defaultFn(serverOwned(() => '')),
    organizationId: varchar('organization_id', { length: 191 }).$defaultFn(serverOwned(() => nothing<string>())),
    /** The order of the changes. */
    position: bigint('position', { mode: 'number' }).autoincrement().$defaultFn(serverOwned(() => sql`default`, HIDDEN)),
    /** The server that attempts it now. */
    lease: varchar('lease', { length: 36 }).$defaultFn(serverOwned(() => nothing<string>(), HIDDEN)),
    /** What the change was: its columns, and the row as it was when the owner could see it. Empty after the first attempt. */
    columns: json('columns').$type<string[]>().$defaultFn(serverOwned(() => nothing<string[]>(), HIDDEN)),
    image: json('image').$type<Record<string, unknown>>()
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
  return mysqlTable(name, webhookDeliveriesColumns(), table => [
    index(`${name}_due`).on(table.webhookId, table.dueAt, table.position),
    index(`${name}_record`).on(table.webhookId, table.resource, table.recordId, table.status, table.position),
    uniqueIndex(`${name}_position`).on(table.position),
    index(`${name}_created_at`).on(table.createdAt),
    index(`${name}_owner`).on(table.organizationId, table.owner, table.createdAt, table.id),
  ])
}
