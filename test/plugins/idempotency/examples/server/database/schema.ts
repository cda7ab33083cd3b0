/** Example of the docs page `idempotency`. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { idempotencyKeysTable } from 'nuxt-auto-api/schema/sqlite'

export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  title: text('title').notNull(),
})

export const idempotencyKeys = idempotencyKeysTable()
