/** A table made of the package's column presets and the table of task runs, for drizzle-kit to read. */
import { pgTable, text } from 'drizzle-orm/pg-core'
import { audit, id, liveUnique, softDelete, taskRunsTable, tenant, timestamps } from 'nuxt-auto-api/schema/pg'

export const shelves = pgTable('shelves', {
  ...id(),
  ...tenant(),
  name: text('name').notNull(),
  ...timestamps(),
  ...audit(),
  ...softDelete(),
}, table => [liveUnique('shelves_name', table, table.organizationId, table.name)])

export const taskRuns = taskRunsTable()
