/** One row for each record that a user likes. */
import { integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

export const likes = sqliteTable('likes', {
  id: text('id').primaryKey(),
  resource: text('resource').notNull(),
  recordId: text('record_id').notNull(),
  userId: text('user_id').notNull(),
  createdAt: integer('created_at', { mode: 'timestamp_ms' }).notNull(),
}, table => [uniqueIndex('likes_of_user').on(table.userId, table.resource, table.recordId)])
