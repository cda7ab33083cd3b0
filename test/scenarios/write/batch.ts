/** Tables for the tests of batches: posts that can fail in every way, and a table whose rows the database deletes with their parents. */
import { sql } from 'drizzle-orm'
import { check, integer, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { vi } from 'vitest'
import { EVERYTHING, openWorld, type WorldOptions } from './world'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title', { length: 20 }).notNull(),
  slug: text('slug').unique(),
  rank: integer('rank'),
  fee: integer('fee'),
  parentId: integer('parent_id').references((): AnySQLiteColumn => posts.id),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletionId: text('deletion_id'),
}, t => [check('rank', sql`${t.rank} >= 0`)])
/** No trash; the database deletes children with their parents. */
const nodes = sqliteTable('nodes', {
  id: integer('id').primaryKey(),
  parentId: integer('parent_id').references((): AnySQLiteColumn => nodes.id, { onDelete: 'cascade' }),
})

/** 3 refers to 2, and 2 to 1. 4 and 5 refer to no row, no caller sees 6, 7 can only be read, 8 is in the trash. */
const ROWS = `
  insert into posts (id, title, slug, parent_id) values (1, 'one', 's1', null), (2, 'two', 's2', 1), (3, 'three', 's3', 2), (4, 'four', 's4', null), (5, 'five', 's5', null), (6, 'six', 's6', null), (7, 'seven', 's7', null);
  insert into posts (id, title, deleted_at, deletion_id) values (8, 'eight', 1000, 'd8');
  insert into nodes values (1, null), (2, 1), (3, 2), (4, null);
`
/** The before-hook of creates and updates. */
export const before = vi.fn<(data: { title?: string }) => unknown>()
export const statements: string[] = []
export const openBatch = (options: Partial<WorldOptions> = {}) => openWorld({
  tables: { posts, nodes },
  resources: { posts: {
    authorization: {
      permissions: EVERYTHING,
      listFilter: table => sql`${(table as typeof posts).id} <> 6`,
      objectLevel: (row, ctx) => row.id !== 7 || ctx.operation === 'read',
      fields: { fee: { write: 'staff' } } as never,
    },
    hooks: { beforeCreate: data => before(data as never), beforeUpdate: (_id, data) => before(data as never) },
  } },
  rows: ROWS,
  log: statement => statements.push(statement),
  ...options,
})
