/** The sample tables in mysql-core. */
import { sql } from 'drizzle-orm'
import {
  type AnyMySqlColumn,
  bigint,
  boolean,
  customType,
  datetime,
  decimal,
  double,
  foreignKey,
  index,
  int,
  json,
  mysqlEnum,
  mysqlTable,
  primaryKey,
  serial,
  text,
  timestamp,
  unique,
  uniqueIndex,
  varchar,
} from 'drizzle-orm/mysql-core'

const id = () => int('id').primaryKey().autoincrement()

export const organizations = mysqlTable('organizations', { id: serial('id').primaryKey(), name: text('name').notNull() })

export const users = mysqlTable('users', {
  id: id(),
  organizationId: int('organization_id').notNull().references(() => organizations.id),
  email: varchar('email', { length: 200 }).notNull().unique(),
  handle: varchar('handle', { length: 50 }).notNull(),
  passwordHash: varchar('password_hash', { length: 100 }).notNull(),
}, t => [unique().on(t.organizationId, t.handle), index('by_email').on(t.email), uniqueIndex('one_hash').on(t.passwordHash)])

export const posts = mysqlTable('posts', {
  id: id(),
  organizationId: int('organization_id').notNull(),
  authorId: int('author_id').references(() => users.id, { onDelete: 'cascade' }),
  title: text('title').notNull(),
  status: mysqlEnum('status', ['draft', 'published']).notNull().default('draft'),
  score: int('score'),
  createdAt: timestamp('created_at').notNull(),
  updatedAt: timestamp('updated_at'),
  createdBy: int('created_by'),
  updatedBy: int('updated_by'),
  deletedAt: timestamp('deleted_at'),
  deletedBy: int('deleted_by'),
  deletionId: varchar('deletion_id', { length: 36 }),
  deletedReason: text('deleted_reason'),
})

export const comments = mysqlTable('comments', {
  id: id(),
  post_id: int('post_id').notNull().references(() => posts.id, { onDelete: 'restrict' }),
  body: text('body').notNull(),
  deleted_at: timestamp('deleted_at').notNull(),
  deleted_by: int('deleted_by'),
})

export const messages = mysqlTable('messages', {
  id: id(),
  senderId: int('sender_id').notNull().references(() => users.id),
  recipientId: int('recipient_id').notNull().references(() => users.id, { onDelete: 'set null' }),
})

export const employees = mysqlTable('employees', {
  code: varchar('code', { length: 20 }).primaryKey(),
  reportsTo: varchar('reports_to', { length: 20 }).references((): AnyMySqlColumn => employees.code),
})

export const tags = mysqlTable('tags', {
  slug: varchar('slug', { length: 50 }).primaryKey(),
  name: text('name')
    .notNull()
    .$defaultFn(() => 'unnamed'),
})

const tagLink = (name: string) => mysqlTable(name, {
  postId: int('post_id').notNull().references(() => posts.id),
  tagSlug: varchar('tag_slug', { length: 50 }).notNull().references(() => tags.slug),
  position: int('position').notNull(),
}, t => [primaryKey({ columns: [t.postId, t.tagSlug] })])

export const postTags = tagLink('post_tags')
export const topicTags = tagLink('topic_tags')

export const bookmarks = mysqlTable('bookmarks', {
  id: id(),
  userId: int('user_id').notNull().references(() => users.id),
  postId: int('post_id').notNull().references(() => posts.id),
  note: text('note'),
}, t => [unique().on(t.userId, t.postId)])

export const reviews = mysqlTable('reviews', {
  id: id(),
  userId: int('user_id').notNull().references(() => users.id),
  tagSlug: varchar('tag_slug', { length: 50 }).notNull().references(() => tags.slug),
  verdict: text('verdict').notNull(),
}, t => [unique().on(t.userId, t.tagSlug)])

export const follows = mysqlTable('follows', {
  followerId: int('follower_id').notNull().references(() => users.id),
  followedId: int('followed_id').notNull().references(() => users.id),
}, t => [primaryKey({ columns: [t.followerId, t.followedId] })])

export const seats = mysqlTable('seats', {
  room: varchar('room', { length: 20 }).notNull(),
  number: int('number').notNull(),
  label: text('label'),
}, t => [primaryKey({ columns: [t.room, t.number] })])

export const bookings = mysqlTable('bookings', {
  id: id(),
  room: varchar('room', { length: 20 }).notNull(),
  seatId: int('seat_id').notNull(),
}, t => [foreignKey({ columns: [t.room, t.seatId], foreignColumns: [seats.room, seats.number] }).onDelete('set default')])

export const keyless = mysqlTable('keyless', { name: text('name') })

export const devices = mysqlTable('devices', { uuid: varchar('uuid', { length: 36 }).primaryKey(), name: text('name') })

/** The database makes the uuid. */
export const tickets = mysqlTable('tickets', {
  uuid: varchar('uuid', { length: 36 })
    .primaryKey()
    .default(sql`(uuid())`),
  name: text('name'),
})

const point = customType<{ data: { x: number }, driverData: string }>({ dataType: () => 'text' })

export const kinds = mysqlTable('kinds', {
  id: id(),
  text: text('text'),
  number: double('number'),
  integer: int('integer'),
  boolean: boolean('boolean'),
  date: datetime('date'),
  bigint: bigint('bigint', { mode: 'bigint' }),
  decimal: decimal('decimal'),
  json: json('json'),
  custom: point('custom'),
  doubled: int('doubled').generatedAlwaysAs(sql`\`integer\` * 2`),
})
