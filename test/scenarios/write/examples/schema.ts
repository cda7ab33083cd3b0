/** The tables of the docs pages `writing`, `trash` and `hooks`: projects and their tasks. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { audit, id, liveUnique, softDelete, timestamps } from 'nuxt-auto-api/schema/sqlite'

export const projects = sqliteTable('projects', {
  ...id(),
  name: text('name').notNull(),
  slug: text('slug').notNull(),
  ...softDelete(),
}, table => [liveUnique('projects_slug', table, table.slug)])

export const tasks = sqliteTable('tasks', {
  ...id(),
  projectId: integer('project_id').notNull().references(() => projects.id),
  title: text('title').notNull(),
  hours: integer('hours').notNull().default(1),
  approved: integer('approved', { mode: 'boolean' }).notNull().default(false),
  ...timestamps(),
  ...audit(),
  ...softDelete(),
})
