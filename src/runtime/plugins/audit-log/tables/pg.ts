/** The table of the audit log, for Postgres. */
import { index, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { serverOwned } from '../../../server/kit/tables'

const time = (name: string) => timestamp(name, { withTimezone: true })

const HIDDEN = { hidden: true }

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
