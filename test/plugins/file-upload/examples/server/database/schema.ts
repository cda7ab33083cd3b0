/** Example of the docs page `files`: a column that contains a file. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { StoredFile } from 'nuxt-auto-api/plugins'

export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  title: text('title').notNull(),
  cover: text('cover', { mode: 'json' }).$type<StoredFile>(),
})
