import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const teamMembers = sqliteTable('team_members', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
  email: text('email'),
  pin: text('pin'),
})

export const articles = sqliteTable('articles', {
  id: integer('id').primaryKey(),
  status: text('status').notNull(),
  title: text('title'),
  body: text('body'),
  cover: text('cover'),
  author: integer('author').references(() => teamMembers.id),
  createdBy: text('user_created'),
  createdAt: text('date_created'),
})
