/**
 * Keys that SQLite stores as bytes are found in every list of keys, and text that breaks the table's own limits is a valid cursor position.
 */
import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { expect, it } from 'vitest'
import { serveTables } from '../../support/tables-server'

const authorization = { permissions: { read: true, create: true, update: true, delete: true } } as const
const filter = (value: unknown) => `filter=${encodeURIComponent(JSON.stringify(value))}`

it('finds rows by keys that SQLite stores as bytes: by many $like, in bulk, in includes and in the permissions of records', async () => {
  const shelves = sqliteTable('shelves', { id: blob('id', { mode: 'bigint' }).primaryKey(), title: text('title') })
  const books = sqliteTable('books', {
    id: integer('id').primaryKey(), title: text('title'),
    shelfId: blob('shelf_id', { mode: 'bigint' }).references(() => shelves.id),
  })
  const server = await serveTables(`
    create table shelves (id blob primary key, title text);
    create table books (id integer primary key, title text, shelf_id blob references shelves (id));`, [{ shelves, books }], {
    shelves: { schema: shelves, authorization }, books: { schema: books, authorization },
  })
  for (const id of ['1', '22', '333']) {
    await server.request('POST', '/api/shelves', { body: { id, title: `shelf ${id}` } })
    await server.request('POST', '/api/books', { body: { title: 'a book', shelfId: id } })
  }
  const likes = { title: { $like: 'shelf%' }, $or: [{ title: { $like: '%2%' } }, { title: { $like: '%3%' } }, { title: { $like: '%x%' } }] }
  const listed = await server.request('GET', `/api/shelves?include=books&${filter(likes)}`)
  expect(listed.body.data.map(({ id, books }: { id: string, books: { id: number }[] }) => [id, books.map(({ id }) => id)])).toEqual([
    ['22', [2]],
    ['333', [3]],
  ])
  const { records } = (await server.request('GET', '/api/shelves/permissions?ids=1,4')).body
  expect([records[1].canRead, records[4].canRead]).toEqual([true, false])
  const updated = await server.request('PATCH', '/api/shelves/bulk', {
    body: { items: ['1', '22', '333'].map(id => ({ id, data: { title: 'new' } })) },
  })
  expect([updated.status, updated.body.meta.successful]).toEqual([200, 3])
})

it.each(['note', 'state'])('accepts cursors at text that breaks the limits of its column: %s', async (sort) => {
  const notes = sqliteTable('notes', {
    id: integer('id').primaryKey(),
    note: text('note', { length: 5 }),
    state: text('state', { enum: ['a', 'b'] }),
  })
  const server = await serveTables(
    `create table notes (id integer primary key, note text, state text);
    insert into notes values (1, 'longer than five', 'older'), (2, 'longer than that', 'older')`,
    [{ notes }],
    { notes: { schema: notes, authorization } },
  )
  const { nextCursor } = (await server.request('GET', `/api/notes?cursor=&limit=1&sort=${sort}`)).body.meta
  const next = await server.request('GET', `/api/notes?cursor=${nextCursor}&limit=1&sort=${sort}`)
  expect([next.status, next.body.data?.map(({ id }: { id: number }) => id)]).toEqual([200, [2]])
})
