/** The table of the audit log, for MySQL. */
import { datetime, index, json, mysqlTable, text, varchar } from 'drizzle-orm/mysql-core'
import { serverOwned } from '../../../server/kit/tables'

const time = (name: string) => datetime(name, { fsp: 3 })

const HIDDEN = { hidden: true }

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
