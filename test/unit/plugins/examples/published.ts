/** Example of docs/plugins.md: a row filter. */
import { eq } from 'drizzle-orm'
import { sqliteTable, text, integer } from 'drizzle-orm/sqlite-core'
import { defineAutoApiPlugin } from 'nuxt-auto-api/define'

export const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title').notNull(), status: text('status').notNull() })

export default defineAutoApiPlugin({
  name: 'published',
  rows: {
    posts: (table: typeof posts, ctx) => ctx.user ? undefined : eq(table.status, 'published'),
  },
})
