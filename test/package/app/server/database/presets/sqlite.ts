/** A table made of the package's column presets and the tables of plugins, for drizzle-kit to read. */
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import {
  apiTokensTable, audit, auditLogTable, id, idempotencyKeysTable, liveUnique, softDelete, taskRunsTable, tenant, timestamps,
} from 'nuxt-auto-api/schema/sqlite'

export const shelves = sqliteTable('shelves', {
  ...id(),
  ...tenant(),
  name: text('name').notNull(),
  ...timestamps(),
  ...audit(),
  ...softDelete(),
}, table => [liveUnique('shelves_name', table, table.organizationId, table.name)])

export const taskRuns = taskRunsTable()
export const apiTokens = apiTokensTable()
export const auditLog = auditLogTable()
export const idempotencyKeys = idempotencyKeysTable()
