/** Example of the docs page `plugins`: a schema with the table of task runs. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { taskRunsTable } from 'nuxt-auto-api/schema/sqlite'

export const taskRuns = taskRunsTable()

export const events = sqliteTable('events', {
  id: text('id').primaryKey(),
  kind: text('kind').notNull(),
  recordId: text('record_id').notNull(),
  after: text('after'),
  userId: text('user_id').notNull(),
  createdAt: integer('created_at', { mode: 'timestamp_ms' }).notNull(),
})
