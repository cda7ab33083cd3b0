/** The tables of the playground: several organizations in one database, separated by `organizationId`. */
import { isNull, sql } from 'drizzle-orm'
import type { StoredFile } from 'nuxt-auto-api/plugins'
import {
  apiTokensTable, auditLogTable, idempotencyKeysTable, webhookDeliveriesTable, webhooksTable,
} from 'nuxt-auto-api/schema/sqlite'
import { index, integer, primaryKey, sqliteTable, sqliteView, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

const timestamp = (name: string) => integer(name, { mode: 'timestamp_ms' })

const timestamps = () => ({
  createdAt: timestamp('created_at').notNull().$defaultFn(() => new Date()),
  updatedAt: timestamp('updated_at').notNull().$defaultFn(() => new Date()),
})

/** Author columns that the server writes. Without foreign keys, so that they keep the ids of deleted users. */
const audit = () => ({
  createdBy: integer('created_by'),
  updatedBy: integer('updated_by'),
})

const softDelete = () => ({
  deletedAt: timestamp('deleted_at'),
  deletedBy: integer('deleted_by'),
  deletionId: text('deletion_id'),
  deletedReason: text('deleted_reason'),
})

const tenant = () => ({
  organizationId: integer('organization_id').notNull().references(() => organizations.id),
})

export const organizations = sqliteTable('organizations', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  name: text('name', { length: 80 }).notNull(),
  slug: text('slug', { length: 80 }).notNull().unique(),
  city: text('city', { length: 80 }),
  ...timestamps(),
})

export const users = sqliteTable('users', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  ...tenant(),
  name: text('name', { length: 80 }).notNull(),
  email: text('email', { length: 160 }).notNull().unique(),
  role: text('role', { enum: ['reader', 'writer', 'editor', 'admin'] }).notNull().default('reader'),
  /** Gross salary per year, in euros. */
  salary: integer('salary'),
  passwordHash: text('password_hash'),
  active: integer('active', { mode: 'boolean' }).notNull().default(true),
  ...timestamps(),
}, table => [
  index('users_organization').on(table.organizationId, table.id),
])

export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  ...tenant(),
  /** The author in the byline; null for the whole newsroom. */
  authorId: integer('author_id').references(() => users.id, { onDelete: 'set null' }),
  title: text('title', { length: 160 }).notNull(),
  slug: text('slug', { length: 180 }).notNull(),
  excerpt: text('excerpt', { length: 400 }),
  body: text('body').notNull(),
  status: text('status', { enum: ['draft', 'published', 'archived'] }).notNull().default('draft'),
  featured: integer('featured', { mode: 'boolean' }).notNull().default(false),
  views: integer('views').notNull().default(0),
  publishedAt: timestamp('published_at'),
  /** An image. The plugin `fileUpload` writes it. */
  cover: text('cover', { mode: 'json' }).$type<StoredFile>(),
  ...timestamps(),
  ...audit(),
  ...softDelete(),
}, table => [
  index('posts_organization_status').on(table.organizationId, table.status, table.id),
  index('posts_author').on(table.authorId, table.id),
  // A slug can be used again after its post moves to the trash.
  uniqueIndex('posts_slug').on(table.organizationId, table.slug).where(isNull(table.deletedAt)),
])

export const comments = sqliteTable('comments', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  ...tenant(),
  postId: integer('post_id').notNull().references(() => posts.id, { onDelete: 'cascade' }),
  /** Null after the user is deleted: the comment stays, without an author. */
  authorId: integer('author_id').references(() => users.id, { onDelete: 'set null' }),
  body: text('body', { length: 2000 }).notNull(),
  status: text('status', { enum: ['pending', 'approved', 'rejected'] }).notNull().default('pending'),
  ...timestamps(),
  ...audit(),
  ...softDelete(),
}, table => [
  index('comments_organization_status').on(table.organizationId, table.status, table.id),
  index('comments_post').on(table.postId, table.id),
  index('comments_author').on(table.authorId, table.id),
])

export const tags = sqliteTable('tags', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  ...tenant(),
  name: text('name', { length: 60 }).notNull(),
  slug: text('slug', { length: 60 }).notNull(),
  ...timestamps(),
}, table => [
  uniqueIndex('tags_slug').on(table.organizationId, table.slug),
])

/** The junction table of posts and tags. It is not registered. */
export const postsTags = sqliteTable('posts_tags', {
  postId: integer('post_id').notNull().references(() => posts.id, { onDelete: 'cascade' }),
  tagId: integer('tag_id').notNull().references(() => tags.id, { onDelete: 'cascade' }),
  position: integer('position').notNull().default(0),
}, table => [
  primaryKey({ columns: [table.postId, table.tagId] }),
  index('posts_tags_tag').on(table.tagId, table.postId),
])

export const media = sqliteTable('media', {
  id: text('id').primaryKey().$defaultFn(() => crypto.randomUUID()),
  ...tenant(),
  /** The post with this file; null for an unused file. */
  postId: integer('post_id').references(() => posts.id, { onDelete: 'set null' }),
  uploaderId: integer('uploader_id').references(() => users.id, { onDelete: 'set null' }),
  kind: text('kind', { enum: ['image', 'video', 'audio', 'document'] }).notNull(),
  filename: text('filename', { length: 200 }).notNull(),
  mimeType: text('mime_type', { length: 100 }).notNull(),
  bytes: integer('bytes').notNull(),
  alt: text('alt', { length: 300 }),
  /** Metadata of the camera or the recorder. */
  details: text('details', { mode: 'json' }).$type<Record<string, string | number>>(),
  ...timestamps(),
  ...audit(),
}, table => [
  index('media_organization_kind').on(table.organizationId, table.kind, table.id),
  index('media_post').on(table.postId),
  index('media_uploader').on(table.uploaderId),
])

/** What everybody can read of each author: the published posts, their views, and the approved comments on them. */
export const authorStats = sqliteView('author_stats', {
  authorId: integer('author_id').notNull(),
  organizationId: integer('organization_id').notNull(),
  name: text('name').notNull(),
  posts: integer('posts').notNull(),
  views: integer('views').notNull(),
  comments: integer('comments').notNull(),
}).as(sql`
  select u.id as author_id, u.organization_id, u.name, count(p.id) as posts, coalesce(sum(p.views), 0) as views,
    (select count(*) from comments c join posts a on a.id = c.post_id where a.author_id = u.id and a.status = 'published'
      and a.deleted_at is null and c.status = 'approved' and c.deleted_at is null) as comments
  from users u left join posts p on p.author_id = u.id and p.status = 'published' and p.deleted_at is null
  group by u.id
`)

/** The keys of requests that are safe to retry, for the plugin `idempotency`. */
export const idempotencyKeys = idempotencyKeysTable()

/** The changes of all records. The plugin `auditLog` writes them. */
export const auditLog = auditLogTable()

/** The tokens of scripts, for the plugin `apiTokens`. */
export const apiTokens = apiTokensTable()

/** Where events about changed records are sent, and what was sent, for the plugin `webhooks`. */
export const webhooks = webhooksTable()
export const webhookDeliveries = webhookDeliveriesTable()
