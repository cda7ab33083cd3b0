/** The upload route of the documentation works as described. */
import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, expect, it } from 'vitest'
import { createServer } from '../../../support/server'

const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title').notNull() })

let client: Database.Database
afterEach(() => client.close())

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
