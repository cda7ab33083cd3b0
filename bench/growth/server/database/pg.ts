/** The measured tables on Postgres, with the indexes that `nuxt-auto-api check` and the docs page `databases` ask for, and no others. */
import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { auditLogTable, id, softDelete, tenant, timestamps } from 'nuxt-auto-api/schema/pg'

export const users = pgTable('users', { ...id(), ...tenant(), name: text('name').notNull() }, table => [
  index('users_list').on(table.organizationId, table.id),
])

export const posts = pgTable('posts', {
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

export const comments = pgTable('comments', {
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
