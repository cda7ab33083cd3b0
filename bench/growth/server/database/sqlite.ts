/** The measured tables on SQLite, with the indexes that `nuxt-auto-api check` and the docs page `databases` ask for, and no others. */
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { auditLogTable, id, softDelete, tenant, timestamps } from 'nuxt-auto-api/schema/sqlite'

export const users = sqliteTable('users', { ...id(), ...tenant(), name: text('name').notNull() }, table => [
  index('users_list').on(table.organizationId, table.id),
])

export const posts = sqliteTable('posts', {
  ...id(),
  ...tenant(),
  authorId: integer('author_id').notNull().references(() => users.id),
  title: text('title').notNull(),
  status: text('status').notNull(),
  ...timestamps(),
  ...softDelete(),
}, table => [
  index('posts_list').on(table.organizationId, table.createdAt, table.id),
  index('posts_author').on(table.organizationId, table.authorId, table.createdAt),
  index('posts_group').on(table.deletionId),
])

export const comments = sqliteTable('comments', {
  ...id(),
  ...tenant(),
  postId: integer('post_id').notNull().references(() => posts.id),
  body: text('body').notNull(),
  ...softDelete(),
}, table => [
  index('comments_list').on(table.organizationId, table.id),
  index('comments_post').on(table.postId),
  index('comments_group').on(table.deletionId),
])

export const auditLog = auditLogTable()
