/** Fields of posts that the database computes: the comments that the caller can see, and how long they take to read. */
import { sql } from 'drizzle-orm'
import { computed, type ComputedFields } from 'nuxt-auto-api/define'
import { comments, type posts } from '../database/schema'

const WORDS_PER_MINUTE = 200

export const postsComputed = {
  commentCount: computed.integer((t, { scope }) => sql`
    (select count(*) from ${comments} where ${comments.postId} = ${t.id} and ${scope('comments', comments)})
  `, { tracks: ['comments'] }),
  /** Minutes, rounded up. Each word ends with one space or line break. */
  readingTime: computed.integer(t => sql`
    (length(trim(${t.body})) - length(replace(replace(trim(${t.body}), ' ', ''), char(10), '')) + ${WORDS_PER_MINUTE}) / ${WORDS_PER_MINUTE}
  `),
} satisfies ComputedFields<typeof posts>
