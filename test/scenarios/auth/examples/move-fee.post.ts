/** Example of the docs page `endpoints`: several statements in one commit. */
import { eq, sql } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { atomicWrites, createEndpoint, findAuthorizedRows, reportChanges } from 'nuxt-auto-api/utils'
import { z } from 'zod'
import { articles } from './schema'

export default createEndpoint({
  resource: 'articles',
  operation: 'update',
  dryRun: true,
  body: z.object({ from: z.number(), to: z.number(), amount: z.number().positive() }),
  async handler(ctx) {
    const { from, to, amount } = ctx.body
    await findAuthorizedRows(ctx, 'articles', [from, to])
    await atomicWrites<BetterSQLite3Database>(ctx, [
      db => db.update(articles).set({ fee: sql`${articles.fee} - ${amount}` }).where(eq(articles.id, from)),
      db => db.update(articles).set({ fee: sql`${articles.fee} + ${amount}` }).where(eq(articles.id, to)),
      reportChanges(ctx, [from, to].map(id => ({ resource: 'articles', kind: 'update', id }))),
    ])
  },
})
