/** Anonymous callers read published posts; members create posts. */
import { eq } from 'drizzle-orm'
import { defineResource } from 'nuxt-auto-api/define'
import { posts, postsRelations } from '../database/schema'

export default defineResource(posts, {
  permissions: { read: true, create: ctx => ctx.user !== null },
  listFilter: (table, { user }) => user === null ? eq(table.state, 'published') : undefined,
  relations: postsRelations,
})
