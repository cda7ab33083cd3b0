/** Example of the docs page `http`: an endpoint that is safe to retry. */
import { eq, sql } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { atomicWrites, createEndpoint, findAuthorizedRow, reportChanges } from 'nuxt-auto-api/utils'

export const notes = sqliteTable('notes', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  likes: integer('likes').notNull().default(0),
})

export default createEndpoint({
  resource: 'notes',
  operation: 'update',
  idempotent: true,
  async handler(ctx) {
    const { id } = await findAuthorizedRow<typeof notes>(ctx, 'notes', ctx.params.id!)
    await atomicWrites<BetterSQLite3Database>(ctx, [
      db => db.update(notes).set({ likes: sql`${notes.likes} + 1` }).where(eq(notes.id, id)),
      reportChanges(ctx, [{ resource: 'notes', kind: 'update', id }]),
    ])
    return { liked: id }
  },
})
