/** Example of the docs page `from-supabase`: the tables, as `drizzle-kit pull` writes them. */
import { boolean, pgTable, text, uuid } from 'drizzle-orm/pg-core'

export const teams = pgTable('teams', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
})

export const members = pgTable('members', {
  id: uuid('id').primaryKey().defaultRandom(),
  teamId: uuid('team_id').notNull().references(() => teams.id),
  userId: uuid('user_id').notNull(),
  role: text('role', { enum: ['reader', 'editor'] }).notNull(),
})

export const documents = pgTable('documents', {
  id: uuid('id').primaryKey().defaultRandom(),
  teamId: uuid('team_id').notNull().references(() => teams.id),
  authorId: uuid('author_id').notNull(),
  title: text('title').notNull(),
  published: boolean('published').notNull().default(false),
})
