/** The short examples of plugins in the documentation work as described. */
import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, expect, it, vi } from 'vitest'
import { createServer } from '../../../support/server'

const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title').notNull() })

let client: Database.Database
afterEach(() => {
  client.close()
  vi.unstubAllEnvs()
})

async function open(plugin: unknown) {
  client = new Database(':memory:')
  client.exec('create table posts (id integer primary key, title text not null); insert into posts values (1, \'old\')')
  return createServer({
    db: drizzle({ client }),
    registrations: [{ name: 'posts', schema: posts, authorization: { permissions: { read: 'reader' } } }],
    plugins: [plugin],
  })
}

it('computes the checksum of an upload', async () => {
  const server = await open(async () => (await import('./examples/checksum')).default)
  const upload = (type: string) =>
    server.request('POST', '/api/posts/1/checksum', {
      raw: 'id,title\n',
      headers: { 'content-type': type },
      caller: { permissions: ['reader'] },
    })
  expect((await upload('text/csv')).body).toEqual({ sha256: createHash('sha256').update('id,title\n').digest('hex') })
  expect((await upload('text/html')).status).toBe(415)
})

it('refuses writes during maintenance, and still answers reads', async () => {
  const server = await open(async () => (await import('./examples/maintenance')).default)
  const send = async (method: string) => (await server.request(method, '/api/posts/1', { body: {}, caller: { permissions: ['reader'] } })).body.data?.code
  expect(await send('PATCH')).toBe('UNAUTHENTICATED')
  vi.stubEnv('MAINTENANCE', '1')
  expect(await send('PATCH')).toBe('MAINTENANCE')
  expect((await server.request('GET', '/api/posts/1', { caller: { permissions: ['reader'] } })).status).toBe(200)
})
