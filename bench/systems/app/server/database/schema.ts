/** The tables. Their indexes are those of `INDEXES` in data.ts. */
import { relations } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { apiTokensTable, timestamps } from 'nuxt-auto-api/schema/sqlite'

export const members = sqliteTable('members', { id: integer('id').primaryKey(), name: text('name').notNull() })

export const authors = sqliteTable('authors', { id: integer('id').primaryKey(), name: text('name').notNull() })

export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  title: text('title').notNull(),
  slug: text('slug').notNull(),
  excerpt: text('excerpt').notNull(),
  state: text('state', { enum: ['draft', 'published', 'archived'] }).notNull(),
  featured: integer('featured', { mode: 'boolean' }).notNull(),
  views: integer('views').notNull(),
  releasedAt: integer('released_at', { mode: 'timestamp_ms' }).notNull(),
  authorId: integer('author_id').notNull().references(() => authors.id),
  ...timestamps(),
}, table => [
  index('posts_released').on(table.state, table.releasedAt),
  index('posts_views').on(table.state, table.featured, table.views),
  index('posts_author').on(table.authorId),
])

export const comments = sqliteTable('comments', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  body: text('body').notNull(),
  postId: integer('post_id').notNull().references(() => posts.id),
  authorId: integer('author_id').notNull().references(() => authors.id),
}, table => [index('comments_post').on(table.postId), index('comments_author').on(table.authorId)])

export const postsRelations = relations(posts, ({ one, many }) => ({
  author: one(authors, { fields: [posts.authorId], references: [authors.id] }),
  comments: many(comments),
}))

export const commentsRelations = relations(comments, ({ one }) => ({
  post: one(posts, { fields: [comments.postId], references: [posts.id] }),
  author: one(authors, { fields: [comments.authorId], references: [authors.id] }),
}))

export const apiTokens = apiTokensTable()
