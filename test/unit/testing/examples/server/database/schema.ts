import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { id, softDelete, tenant } from 'nuxt-auto-api/schema/sqlite'

export const posts = sqliteTable('posts', {
  ...id(),
  ...tenant(),
  authorId: integer('author_id').notNull(),
  title: text('title').notNull(),
  margin: integer('margin'),
  ...softDelete(),
})
