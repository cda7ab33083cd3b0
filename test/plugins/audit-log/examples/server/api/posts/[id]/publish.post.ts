/** Example of the docs page `activity`: an event of the app, in the commit of the change that it belongs to. */
import { eq } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { atomicWrites, createEndpoint, findAuthorizedRow, recordActivity, reportChanges } from 'nuxt-auto-api/utils'
import { posts } from '../../../database/schema'

export default createEndpoint({
  resource: 'posts',
  operation: 'update',
  async handler(ctx) {
    const post = await findAuthorizedRow<typeof posts>(ctx, 'posts', ctx.params.id!)
    await atomicWrites<BetterSQLite3Database>(ctx, [
      db => db.update(posts).set({ body: 'Published' }).where(eq(posts.id, post.id)),
      reportChanges(ctx, [{ resource: 'posts', kind: 'update', id: post.id }]),
      recordActivity(ctx, { resource: 'posts', id: post.id, verb: 'published', data: { channel: 'newsletter' } }),
    ])
    return { published: post.id }
  },
})
