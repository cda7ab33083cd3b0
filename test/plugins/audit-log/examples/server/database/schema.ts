/** Example of the docs page `audit`: the tables of an app with an audit log. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { auditLogTable } from 'nuxt-auto-api/schema/sqlite'

export const auditLog = auditLogTable()

export const users = sqliteTable('users', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
  recoveryCode: text('recovery_code'),
})

export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  body: text('body'),
  editorNote: text('editor_note'),
})
