import { count, eq, sql } from 'drizzle-orm'
import { pgView } from 'drizzle-orm/pg-core'
import { posts, users } from './schema'

export const authorStats = pgView('author_stats').as(qb =>
  qb.select({
    authorId: users.id,
    name: users.name,
    posts: count(posts.id).as('posts'),
    views: sql`sum(${posts.views})`.mapWith(Number).as('views'),
    latestPost: sql`max(${posts.createdAt})`.mapWith(posts.createdAt).as('latest_post'),
  }).from(users).leftJoin(posts, eq(posts.authorId, users.id)).groupBy(users.id))
