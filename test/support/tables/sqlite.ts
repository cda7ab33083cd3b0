/** The sample tables in sqlite-core. The three dialects declare the same names, so that one test speaks for all. */
import { sql } from 'drizzle-orm'
import {
  type AnySQLiteColumn, blob, customType, foreignKey, index, integer, numeric, primaryKey, real, sqliteTable, text, unique, uniqueIndex,
} from 'drizzle-orm/sqlite-core'

const timestamp = (name: string) => integer(name, { mode: 'timestamp' })
const id = () => integer('id').primaryKey({ autoIncrement: true })

export const organizations = sqliteTable('organizations', { id: id(), name: text('name').notNull() })

export const users = sqliteTable(
  'users',
  {
    id: id(),
    organizationId: integer('organization_id')
      .notNull()
      .references(() => organizations.id),
    email: text('email').notNull().unique(),
    handle: text('handle').notNull(),
    passwordHash: text('password_hash').notNull(),
  },
  t => [
    unique().on(t.organizationId, t.handle),
    index('by_email').on(t.email),
    uniqueIndex('live_handle')
      .on(t.handle)
      .where(sql`handle <> ''`),
    uniqueIndex('one_hash').on(t.passwordHash),
  ],
)

export const posts = sqliteTable('posts', {
  id: id(),
  organizationId: integer('organization_id').notNull(),
  authorId: integer('author_id').references(() => users.id, { onDelete: 'cascade' }),
  title: text('title').notNull(),
  status: text('status', { enum: ['draft', 'published'] }).notNull().default('draft'),
  score: integer('score'),
  createdAt: timestamp('created_at').notNull(),
  updatedAt: timestamp('updated_at'),
  createdBy: integer('created_by'),
  updatedBy: integer('updated_by'),
  deletedAt: timestamp('deleted_at'),
  deletedBy: integer('deleted_by'),
  deletionId: text('deletion_id'),
  deletedReason: text('deleted_reason'),
})

export const comments = sqliteTable('comments', {
  id: id(),
  post_id: integer('post_id').notNull().references(() => posts.id, { onDelete: 'restrict' }),
  body: text('body').notNull(),
  deleted_at: timestamp('deleted_at').notNull(),
  deleted_by: integer('deleted_by'),
})

export const messages = sqliteTable('messages', {
  id: id(),
  senderId: integer('sender_id').notNull().references(() => users.id),
  recipientId: integer('recipient_id').notNull().references(() => users.id, { onDelete: 'set null' }),
})

export const employees = sqliteTable('employees', {
  code: text('code').primaryKey(),
  reportsTo: text('reports_to').references((): AnySQLiteColumn => employees.code),
})

export const tags = sqliteTable('tags', { slug: text('slug').primaryKey(), name: text('name').notNull().$defaultFn(() => 'unnamed') })

const tagLink = (name: string) => sqliteTable(name, {
  postId: integer('post_id').notNull().references(() => posts.id),
  tagSlug: text('tag_slug').notNull().references(() => tags.slug),
  position: integer('position').notNull(),
}, t => [primaryKey({ columns: [t.postId, t.tagSlug] })])

export const postTags = tagLink('post_tags')
export const topicTags = tagLink('topic_tags')

/** A junction by its unique constraint: its key is its own, and nothing else is required. */
export const bookmarks = sqliteTable('bookmarks', {
  id: id(),
  userId: integer('user_id').notNull().references(() => users.id),
  postId: integer('post_id').notNull().references(() => posts.id),
  note: text('note'),
}, t => [unique().on(t.userId, t.postId)])

/** Not a junction: one more column is required. */
export const reviews = sqliteTable('reviews', {
  id: id(),
  userId: integer('user_id').notNull().references(() => users.id),
  tagSlug: text('tag_slug').notNull().references(() => tags.slug),
  verdict: text('verdict').notNull(),
}, t => [unique().on(t.userId, t.tagSlug)])

export const follows = sqliteTable('follows', {
  followerId: integer('follower_id').notNull().references(() => users.id),
  followedId: integer('followed_id').notNull().references(() => users.id),
}, t => [primaryKey({ columns: [t.followerId, t.followedId] })])

export const seats = sqliteTable('seats', {
  room: text('room').notNull(),
  number: integer('number').notNull(),
  label: text('label'),
}, t => [primaryKey({ columns: [t.room, t.number] })])

export const bookings = sqliteTable('bookings', {
  id: id(),
  room: text('room').notNull(),
  seatId: integer('seat_id').notNull(),
}, t => [foreignKey({ columns: [t.room, t.seatId], foreignColumns: [seats.room, seats.number] }).onDelete('set default')])

/** No primary key: rows could not be addressed. */
export const keyless = sqliteTable('keyless', { name: text('name') })

/** Keys that are not the database's to make. */
export const devices = sqliteTable('devices', { uuid: text('uuid').primaryKey().$defaultFn(() => crypto.randomUUID()), name: text('name') })

/** The database makes the key. */
export const tickets = sqliteTable('tickets', {
  uuid: text('uuid')
    .primaryKey()
    .default(sql`(lower(hex(randomblob(16))))`),
  name: text('name'),
})

const point = customType<{ data: { x: number }, driverData: string }>({ dataType: () => 'text' })

export const kinds = sqliteTable('kinds', {
  id: id(),
  text: text('text'),
  number: real('number'),
  integer: integer('integer'),
  boolean: integer('boolean', { mode: 'boolean' }),
  date: integer('date', { mode: 'timestamp_ms' }),
  bigint: blob('bigint', { mode: 'bigint' }),
  decimal: numeric('decimal'),
  json: text('json', { mode: 'json' }),
  blob: blob('blob', { mode: 'buffer' }),
  custom: point('custom'),
  doubled: integer('doubled').generatedAlwaysAs(sql`"integer" * 2`),
})
