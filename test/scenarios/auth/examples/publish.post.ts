/** Example of the docs page `endpoints`: an endpoint with a named gate. */
import { eq } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { createEndpoint, findAuthorizedRow } from 'nuxt-auto-api/utils'
import { articles } from './schema'

export default createEndpoint({
  resource: 'articles',
  operation: 'update',
  endpointName: 'publish',
  async handler(ctx) {
    const article = await findAuthorizedRow<typeof articles>(ctx, 'articles', ctx.params.id!)
    const db = ctx.db as BetterSQLite3Database
    await db.update(articles).set({ status: 'published' }).where(eq(articles.id, article.id))
    return { published: article.id }
  },
})
