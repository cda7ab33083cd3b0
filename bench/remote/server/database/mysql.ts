/** The measured tables on MariaDB: the same rows under the same names. */
import { boolean, datetime, index, int, mysqlEnum, mysqlTable, varchar } from 'drizzle-orm/mysql-core'

const time = (name: string) => datetime(name, { fsp: 3 })

export const organizations = mysqlTable('organizations', {
  id: int('id').primaryKey(),
  name: varchar('name', { length: 200 }).notNull(),
})

export const users = mysqlTable('users', {
  id: int('id').primaryKey(),
  organizationId: int('organization_id').notNull().references(() => organizations.id),
  name: varchar('name', { length: 200 }).notNull(),
  email: varchar('email', { length: 200 }).notNull().unique(),
  role: mysqlEnum('role', ['guest', 'writer', 'editor']).notNull(),
})

export const posts = mysqlTable('posts', {
  id: int('id').primaryKey(),
  organizationId: int('organization_id').notNull().references(() => organizations.id),
  authorId: int('author_id').notNull().references(() => users.id),
  title: varchar('title', { length: 200 }).notNull(),
  slug: varchar('slug', { length: 200 }).notNull(),
  excerpt: varchar('excerpt', { length: 500 }),
  status: mysqlEnum('status', ['draft', 'published', 'archived']).notNull(),
  featured: boolean('featured').notNull(),
  views: int('views').notNull(),
  publishedAt: time('published_at'),
  createdAt: time('created_at').notNull(),
  updatedAt: time('updated_at').notNull(),
}, table => [
  index('posts_organization').on(table.organizationId, table.id),
])
