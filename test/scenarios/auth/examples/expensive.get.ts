/** Example of the docs page `endpoints`: a query of the app with the row scope of the caller. */
import { and, gte } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { createEndpoint, rowScope } from 'nuxt-auto-api/utils'
import { z } from 'zod'
import { articles } from './schema'

export default createEndpoint({
  resource: 'articles',
  operation: 'read',
  query: z.object({ min: z.coerce.number().default(0) }),
  async handler(ctx) {
    const db = ctx.db as BetterSQLite3Database
    return db.select({ id: articles.id, title: articles.title }).from(articles)
      .where(and(await rowScope(ctx, 'articles', articles), gte(articles.fee, ctx.query.min)))
  },
})
