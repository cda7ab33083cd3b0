/** A table made of the package's column presets and the tables of plugins, for drizzle-kit to read. */
import { mysqlTable, varchar } from 'drizzle-orm/mysql-core'
import {
  apiTokensTable, audit, auditLogTable, id, idempotencyKeysTable, liveUnique, softDelete, taskRunsTable, tenant, timestamps,
} from 'nuxt-auto-api/schema/mysql'

export const shelves = mysqlTable('shelves', {
  ...id(),
  ...tenant(),
  name: varchar('name', { length: 80 }).notNull(),
  ...timestamps(),
  ...audit(),
  ...softDelete(),
}, table => [liveUnique('shelves_name', table, table.organizationId, table.name)])

export const taskRuns = taskRunsTable()
export const apiTokens = apiTokensTable()
export const auditLog = auditLogTable()
export const idempotencyKeys = idempotencyKeysTable()
