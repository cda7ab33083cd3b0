/** A plugin of real size that uses only public entries of the package: `test/package/likes`. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, expect, it, vi } from 'vitest'
import { createServer, type Caller } from '../../../support/server'

const books = sqliteTable('books', {
  id: integer('id').primaryKey(), title: text('title').notNull(),
})

let client: Database.Database
afterEach(() => {
  client.close()
  vi.restoreAllMocks()
})

async function open(resources = ['books']) {
  client = new Database(':memory:')
  client.exec(`
    create table books (id integer primary key, title text not null);
    create table likes (id text primary key, resource text not null, record_id text not null, user_id text not null, created_at integer not null);
    create unique index likes_of_user on likes (user_id, resource, record_id);
    insert into books (title) values ('Emma'), ('Villette');
  `)
  const { likes } = await import('../../../package/likes/schema')
  const { likesAuth } = await import('../../../package/likes/auth')
  return createServer({
    db: drizzle({ client }),
    registrations: [
      {
        name: 'books', schema: books,
        authorization: { permissions: { read: true, create: true, delete: true } },
      },
      { name: 'likes', schema: likes, authorization: likesAuth as never },
    ],
    plugins: [async () => (await import('../../../package/likes/server')).likes({ resources })],
  })
}

const caller = (id: number): { caller: Caller } => ({ caller: { user: { id } } })

it('counts the likes of users, each of them once', async () => {
  const server = await open()
  const like = async (method: string, id?: number) =>
    (await server.request(method, '/api/books/1/likes', id === undefined ? {} : caller(id))).body
  expect(await like('PUT', 1)).toEqual({ likes: 1, liked: true })
  expect(await like('PUT', 1)).toEqual({ likes: 1, liked: true })
  expect(await like('PUT', 2)).toEqual({ likes: 2, liked: true })
  expect(await like('DELETE', 1)).toEqual({ likes: 1, liked: false })
  expect(await like('GET')).toEqual({ likes: 1, liked: false })
  expect((await server.request('PUT', '/api/books/1/likes')).status).toBe(401)
  expect((await server.request('PUT', '/api/books/7/likes', caller(1))).status).toBe(404)
})

it('adds the like of the author in the commit of the record, and removes likes with their record', async () => {
  const server = await open()
  const rows = () => client.prepare('select resource, record_id, user_id from likes').raw().all()
  expect((await server.request('POST', '/api/books', { ...caller(5), body: { title: 'Middlemarch' } })).status).toBe(201)
  expect(rows()).toEqual([['books', '3', '5']])
  expect((await server.request('DELETE', '/api/books/3', caller(5))).status).toBe(200)
  expect(rows()).toEqual([])
})

it('discloses no users of likes, and accepts likes only by its routes', async () => {
  const server = await open()
  await server.request('PUT', '/api/books/1/likes', caller(1))
  expect((await server.request('GET', '/api/likes', caller(1))).status).toBe(403)
  const { body } = await server.request('GET', '/api/likes', { caller: { user: { id: 3, role: 'moderator' } } })
  expect(body.data).toEqual([{ id: expect.any(String), resource: 'books', recordId: '1', createdAt: expect.any(String) }])
  expect((await server.request('POST', '/api/likes', { ...caller(1), body: {} })).status).toBe(405)
})

it('does not start with a resource that does not exist', async () => {
  const { likes } = await import('../../../package/likes/server')
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  const server = await open(['boks'])
  expect((await server.request('GET', '/api/books')).status).toBe(500)
  expect(logged.mock.calls.flat().map(String).join()).toContain('`likes.resources` contains "boks". Did you mean `books`?')
  expect(() => likes({} as never)).toThrow('`likes.resources` is undefined. Use a list of resource names.')
})
