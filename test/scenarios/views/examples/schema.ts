/** Example of the docs page `views`: views of authors and their posts. */
import { count, eq, sql } from 'drizzle-orm'
import { bigint, integer, pgMaterializedView, pgTable, pgView, text, timestamp } from 'drizzle-orm/pg-core'

export const users = pgTable('users', { id: integer('id').primaryKey(), name: text('name').notNull() })

export const posts = pgTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  views: integer('views').notNull().default(0),
  authorId: integer('author_id').notNull().references(() => users.id),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
})

export const authorStats = pgView('author_stats').as(qb =>
  qb.select({
    authorId: users.id,
    name: users.name,
    posts: count(posts.id).as('posts'),
    views: sql`sum(${posts.views})`.mapWith(Number).as('views'),
    latestPost: sql`max(${posts.createdAt})`.mapWith(posts.createdAt).as('latest_post'),
  }).from(users).leftJoin(posts, eq(posts.authorId, users.id)).groupBy(users.id))

/** The posts and views of each day and author. */
export const writingDays = pgMaterializedView('writing_days', {
  authorId: integer('author_id').notNull(),
  day: text('day').notNull(),
  posts: bigint('posts', { mode: 'number' }).notNull(),
}).as(sql`
  select author_id, to_char(created_at, 'YYYY-MM-DD') as day, count(*) as posts from posts group by 1, 2
`)
