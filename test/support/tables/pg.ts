/** The sample tables in pg-core. */
import { sql } from 'drizzle-orm'
import {
  type AnyPgColumn,
  bigint,
  boolean,
  customType,
  doublePrecision,
  foreignKey,
  index,
  integer,
  jsonb,
  numeric,
  pgEnum,
  pgTable,
  primaryKey,
  serial,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'

const id = () => serial('id').primaryKey()

export const organizations = pgTable('organizations', {
  id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
  name: text('name').notNull(),
})

export const users = pgTable(
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

export const postStatus = pgEnum('post_status', ['draft', 'published'])

export const posts = pgTable('posts', {
  id: id(),
  organizationId: integer('organization_id').notNull(),
  authorId: integer('author_id').references(() => users.id, { onDelete: 'cascade' }),
  title: text('title').notNull(),
  status: postStatus('status').notNull().default('draft'),
  score: integer('score'),
  createdAt: timestamp('created_at').notNull(),
  updatedAt: timestamp('updated_at'),
  createdBy: integer('created_by'),
  updatedBy: integer('updated_by'),
  deletedAt: timestamp('deleted_at'),
  deletedBy: integer('deleted_by'),
  deletionId: uuid('deletion_id'),
  deletedReason: text('deleted_reason'),
})

export const comments = pgTable('comments', {
  id: id(),
  post_id: integer('post_id').notNull().references(() => posts.id, { onDelete: 'restrict' }),
  body: text('body').notNull(),
  deleted_at: timestamp('deleted_at').notNull(),
  deleted_by: integer('deleted_by'),
})

export const messages = pgTable('messages', {
  id: id(),
  senderId: integer('sender_id').notNull().references(() => users.id),
  recipientId: integer('recipient_id').notNull().references(() => users.id, { onDelete: 'set null' }),
})

export const employees = pgTable('employees', {
  code: text('code').primaryKey(),
  reportsTo: text('reports_to').references((): AnyPgColumn => employees.code),
})

export const tags = pgTable('tags', { slug: text('slug').primaryKey(), name: text('name').notNull().$defaultFn(() => 'unnamed') })

const tagLink = (name: string) => pgTable(name, {
  postId: integer('post_id').notNull().references(() => posts.id),
  tagSlug: text('tag_slug').notNull().references(() => tags.slug),
  position: integer('position').notNull(),
}, t => [primaryKey({ columns: [t.postId, t.tagSlug] })])

export const postTags = tagLink('post_tags')
export const topicTags = tagLink('topic_tags')

export const bookmarks = pgTable('bookmarks', {
  id: id(),
  userId: integer('user_id').notNull().references(() => users.id),
  postId: integer('post_id').notNull().references(() => posts.id),
  note: text('note'),
}, t => [unique().on(t.userId, t.postId)])

export const reviews = pgTable('reviews', {
  id: id(),
  userId: integer('user_id').notNull().references(() => users.id),
  tagSlug: text('tag_slug').notNull().references(() => tags.slug),
  verdict: text('verdict').notNull(),
}, t => [unique().on(t.userId, t.tagSlug)])

export const follows = pgTable('follows', {
  followerId: integer('follower_id').notNull().references(() => users.id),
  followedId: integer('followed_id').notNull().references(() => users.id),
}, t => [primaryKey({ columns: [t.followerId, t.followedId] })])

export const seats = pgTable('seats', {
  room: text('room').notNull(),
  number: integer('number').notNull(),
  label: text('label'),
}, t => [primaryKey({ columns: [t.room, t.number] })])

export const bookings = pgTable('bookings', {
  id: id(),
  room: text('room').notNull(),
  seatId: integer('seat_id').notNull(),
}, t => [foreignKey({ columns: [t.room, t.seatId], foreignColumns: [seats.room, seats.number] }).onDelete('set default')])

export const keyless = pgTable('keyless', { name: text('name') })

export const devices = pgTable('devices', { uuid: uuid('uuid').primaryKey(), name: text('name') })

/** The database makes the uuid. */
export const tickets = pgTable('tickets', { uuid: uuid('uuid').primaryKey().defaultRandom(), name: text('name') })

const point = customType<{ data: { x: number }, driverData: string }>({ dataType: () => 'text' })
const bytea = customType<{ data: Buffer, driverData: Buffer }>({ dataType: () => 'bytea' })

export const kinds = pgTable('kinds', {
  id: id(),
  text: text('text'),
  number: doublePrecision('number'),
  integer: integer('integer'),
  boolean: boolean('boolean'),
  date: timestamp('date'),
  bigint: bigint('bigint', { mode: 'bigint' }),
  decimal: numeric('decimal'),
  json: jsonb('json'),
  list: integer('list').array(),
  bytes: bytea('bytes'),
  custom: point('custom'),
  doubled: integer('doubled').generatedAlwaysAs(sql`"integer" * 2`),
})
