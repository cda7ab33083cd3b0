/** Writes one entry for each changed row, in the commit of the change. */
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { defineAutoApiPlugin } from '../../../../src/runtime/server/define'

export const auditLog = sqliteTable('audit_log', {
  id: text('id').primaryKey(),
  resource: text('resource').notNull(),
  recordId: text('record_id').notNull(),
  kind: text('kind').notNull(),
  userId: text('user_id'),
  before: text('before', { mode: 'json' }),
  after: text('after', { mode: 'json' }),
})

export default defineAutoApiPlugin({
  name: 'audit',
  needs: { images: true },
  inCommit: (changes, ctx) => changes.map(rows => rows.insertInto(auditLog, {
    id: rows.uuid,
    resource: rows.resource ?? rows.table,
    recordId: rows.id,
    kind: rows.kind,
    userId: ctx.user ? String(ctx.user.id) : null,
    before: rows.before,
    after: rows.after,
  })),
})
