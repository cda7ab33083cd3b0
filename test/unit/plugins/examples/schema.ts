/** Example of docs/plugins.md: a schema with the table of task runs. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { taskRunsTable } from 'nuxt-auto-api/schema/sqlite'

export const sessions = sqliteTable('sessions', {
  id: text('id').primaryKey(),
  expiresAt: integer('expires_at', { mode: 'timestamp' }).notNull(),
})

export const taskRuns = taskRunsTable()
