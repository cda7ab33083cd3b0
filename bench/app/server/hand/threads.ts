/** The handwritten bulk create of posts with their comments: two inserts of many rows in one transaction, in three ways. */
import { sql } from 'drizzle-orm'
import { comments, posts } from '../database/schema'
import type { Thread } from './draft'
import { once } from './prepared'
import { COLUMNS, toPost, type Row } from './raw'

/** Drizzle queries that are built per request. */
export const insertThreads = (threads: readonly Thread[]) => useDatabase().transaction((tx) => {
  const data = tx.insert(posts).values(threads.map(({ post }) => post)).returning().all()
  tx.insert(comments).values(threads.flatMap(({ post: { organizationId }, texts }, index) =>
    texts.map(body => ({ organizationId, postId: data[index]!.id, body })))).run()
  return data
})

const times = <T>(count: unknown, make: (index: number) => T): T[] => Array.from({ length: Number(count) }, (_, index) => make(index))

const rowOf = (names: readonly string[], index: number) =>
  Object.fromEntries(names.map(name => [name, sql.placeholder(`${name}${index}`)])) as never

const valuesOf = (rows: readonly object[]) =>
  Object.fromEntries(rows.flatMap((row, index) => Object.entries(row).map(([name, value]) => [`${name}${index}`, value as unknown])))

const POST = ['title', 'slug', 'excerpt', 'authorId', 'organizationId', 'createdAt', 'updatedAt']
const COMMENT = ['organizationId', 'postId', 'body', 'createdAt']

const postInsertion = once(count => useDatabase().insert(posts).values(times(count, index => rowOf(POST, index))).returning().prepare())
const commentInsertion = once(count => useDatabase().insert(comments).values(times(count, index => rowOf(COMMENT, index))).prepare())

/** Drizzle queries that are prepared once for each number of rows. */
export const insertPreparedThreads = (threads: readonly Thread[]) => useDatabase().$client.transaction(() => {
  const createdAt = new Date()
  const drafts = threads.map(({ post }) => ({ excerpt: null, ...post, createdAt, updatedAt: createdAt }))
  const data = postInsertion(threads.length).all(valuesOf(drafts))
  const rows = threads.flatMap(({ post: { organizationId }, texts }, index) =>
    texts.map(body => ({ organizationId, postId: data[index]!.id, body, createdAt })))
  commentInsertion(rows.length).run(valuesOf(rows))
  return data
})()

const prepare = once(text => useDatabase().$client.prepare<unknown[], Row>(text))

const rowsOf = (count: number, columns: number) => times(count, () => `(${times(columns, () => '?').join()})`).join()

/** SQL text that better-sqlite3 prepares once for each number of rows. */
export const insertRawThreads = (threads: readonly Thread[]): Row[] => useDatabase().$client.transaction(() => {
  const now = Date.now()
  const data = prepare(`insert into posts (title, slug, excerpt, author_id, organization_id, created_at, updated_at)
    values ${rowsOf(threads.length, 7)} returning ${COLUMNS.replaceAll('posts.', '')}`)
    .all(threads.flatMap(({ post: { title, slug, excerpt, authorId, organizationId } }) =>
      [title, slug, excerpt ?? null, authorId, organizationId, now, now]))
    .map(row => toPost(row, false))
  const values = threads.flatMap(({ post: { organizationId }, texts }, index) =>
    texts.flatMap(body => [organizationId, data[index]!.id, body, now]))
  prepare(`insert into comments (organization_id, post_id, body, created_at) values ${rowsOf(values.length / 4, 4)}`).run(values)
  return data
})()
