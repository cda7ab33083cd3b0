import { sql } from 'drizzle-orm'
import { computed, defineResource } from 'nuxt-auto-api/define'
import { comments, posts } from '../database/schema'

export default defineResource(posts, {
  permissions: { read: true },
  computed: {
    commentCount: computed.integer((t, { scope }) =>
      sql`(select count(*) from ${comments} where ${comments.postId} = ${t.id} and ${scope('comments', comments)})`,
    { tracks: ['comments'] }),
    lastComment: computed.timestamp((t, { scope }) =>
      sql`(select max(${comments.createdAt}) from ${comments} where ${comments.postId} = ${t.id} and ${scope('comments', comments)})`
        .mapWith(comments.createdAt),
    { tracks: ['comments'] }),
    isOverdue: computed.boolean(t => sql`${t.dueAt} < unixepoch() * 1000`, { volatile: true }),
    html: computed.text(t => sql`'<p>' || replace(${t.body}, char(10), '</p><p>') || '</p>'`, { lazy: true }),
  },
})
