/** The measured tables: posts of several organizations, written by their users, with comments and tags. */
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

const timestamp = (name: string) => integer(name, { mode: 'timestamp_ms' })

export const organizations = sqliteTable('organizations', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  name: text('name').notNull(),
})

export const users = sqliteTable('users', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  organizationId: integer('organization_id').notNull().references(() => organizations.id),
  name: text('name').notNull(),
  email: text('email').notNull().unique(),
  role: text('role', { enum: ['guest', 'writer', 'editor'] }).notNull(),
})

export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  organizationId: integer('organization_id').notNull().references(() => organizations.id),
  authorId: integer('author_id').notNull().references(() => users.id),
  title: text('title').notNull(),
  slug: text('slug').notNull(),
  excerpt: text('excerpt'),
  status: text('status', { enum: ['draft', 'published', 'archived'] }).notNull().default('draft'),
  featured: integer('featured', { mode: 'boolean' }).notNull().default(false),
  views: integer('views').notNull().default(0),
  publishedAt: timestamp('published_at'),
  createdAt: timestamp('created_at').notNull().$defaultFn(() => new Date()),
  updatedAt: timestamp('updated_at').notNull().$defaultFn(() => new Date()),
}, table => [
  index('posts_organization').on(table.organizationId),
  // Covers the count of a total. Without it, reading the rows would take most of the time.
  index('posts_organization_status').on(table.organizationId, table.status, table.authorId),
  // For the operation with a filter and a sort.
  index('posts_organization_featured').on(table.organizationId, table.featured, table.views),
  index('posts_author').on(table.authorId),
])

export const comments = sqliteTable('comments', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  organizationId: integer('organization_id').notNull().references(() => organizations.id),
  postId: integer('post_id').notNull().references(() => posts.id),
  body: text('body').notNull(),
  createdAt: timestamp('created_at').notNull().$defaultFn(() => new Date()),
}, table => [index('comments_post').on(table.postId)])

export const tags = sqliteTable('tags', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  organizationId: integer('organization_id').notNull().references(() => organizations.id),
  name: text('name').notNull(),
})

export const postTags = sqliteTable('post_tags', {
  postId: integer('post_id').notNull().references(() => posts.id),
  tagId: integer('tag_id').notNull().references(() => tags.id),
}, table => [primaryKey({ columns: [table.postId, table.tagId] })])

/** Written in the same commit as a post, for the operations with an outbox. */
export const outbox = sqliteTable('outbox', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  kind: text('kind').notNull(),
  recordId: text('record_id').notNull(),
  organizationId: integer('organization_id').notNull(),
  /** The post as JSON. NULL if the operation does not store it. */
  after: text('after', { mode: 'json' }),
  createdAt: timestamp('created_at').notNull(),
})

/** Entries of the operations with an audit log, as `auditLogTable()` creates it: the benchmark runs without a bundler. */
export const auditLog = sqliteTable('audit_log', {
  id: text('id').primaryKey(),
  at: timestamp('at').notNull(),
  kind: text('kind').notNull(),
  resource: text('resource').notNull(),
  recordId: text('record_id'),
  otherId: text('other_id'),
  rootId: text('root_id'),
  userId: text('user_id'),
  tokenId: text('token_id'),
  via: text('via'),
  tenantId: text('tenant_id'),
  requestId: text('request_id'),
  ip: text('ip'),
  columns: text('columns', { mode: 'json' }),
  before: text('before', { mode: 'json' }),
  after: text('after', { mode: 'json' }),
  reason: text('reason'),
}, table => [
  index('audit_log_record').on(table.resource, table.recordId, table.id),
  index('audit_log_kind').on(table.resource, table.recordId, table.kind),
  index('audit_log_tenant').on(table.tenantId, table.id),
  index('audit_log_at').on(table.at),
])
