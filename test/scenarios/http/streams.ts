/** An API with one route whose handler returns whatever a test wants to stream. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { defineAutoApiPlugin, type AutoApiPlugin } from '../../../src/runtime/server/define'

export const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title').notNull() })

export const apiPlugin = (handler: () => unknown): AutoApiPlugin =>
  defineAutoApiPlugin({ name: 'streams', routes: [{ method: 'GET', path: '/stream', handler }] })
