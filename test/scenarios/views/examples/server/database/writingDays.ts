import { sql } from 'drizzle-orm'
import { bigint, integer, pgMaterializedView, text } from 'drizzle-orm/pg-core'

/** How many posts each author wrote on each day. */
export const writingDays = pgMaterializedView('writing_days', {
  authorId: integer('author_id').notNull(),
  day: text('day').notNull(),
  posts: bigint('posts', { mode: 'number' }).notNull(),
}).as(sql`
  select author_id, to_char(created_at, 'YYYY-MM-DD') as day, count(*) as posts from posts group by 1, 2
`)
