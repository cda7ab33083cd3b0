/** The measured tables on Postgres: the same rows under the same names. */
import { boolean, index, integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core'

const time = (name: string) => timestamp(name, { withTimezone: true, precision: 3 })

export const organizations = pgTable('organizations', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
})

export const users = pgTable('users', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull().references(() => organizations.id),
  name: text('name').notNull(),
  email: text('email').notNull().unique(),
  role: text('role', { enum: ['guest', 'writer', 'editor'] }).notNull(),
})

export const posts = pgTable('posts', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull().references(() => organizations.id),
  authorId: integer('author_id').notNull().references(() => users.id),
  title: text('title').notNull(),
  slug: text('slug').notNull(),
  excerpt: text('excerpt'),
  status: text('status', { enum: ['draft', 'published', 'archived'] }).notNull(),
  featured: boolean('featured').notNull(),
  views: integer('views').notNull(),
  publishedAt: time('published_at'),
  createdAt: time('created_at').notNull(),
  updatedAt: time('updated_at').notNull(),
}, table => [
  index('posts_organization').on(table.organizationId, table.id),
])
