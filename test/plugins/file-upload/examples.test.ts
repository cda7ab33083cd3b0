/** The storage of the documentation passes the tests of storages, and the plugin of the documentation writes a protected column. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { fileStorageSuite } from 'nuxt-auto-api/testing'
import { expect, it } from 'vitest'
import { createServer } from '../../support/server'
import readingTime from '../../unit/server/plugin/examples/reading-time'
import { clear, files } from './examples/storage'

for (const { name, run } of fileStorageSuite({ create: () => ({ storage: files, close: clear }) })) it(name, run)

it('writes the reading time, which no body can set', async () => {
  const posts = sqliteTable('posts', { id: integer('id').primaryKey(), readingTime: text('reading_time') })
  const client = new Database(':memory:')
  client.exec('create table posts (id integer primary key, reading_time text); insert into posts (id) values (1)')
  const server = await createServer({
    db: drizzle({ client }),
    plugins: [readingTime],
    registrations: [
      { name: 'posts', schema: posts, protectedFields: ['readingTime'], authorization: { permissions: { read: true, update: 'edit' } } },
    ],
  })
  const path = '/api/posts/1/reading-time'
  const send = (permissions: string[]) =>
    server.request('POST', path, { raw: 'a b c', headers: { 'content-type': 'text/plain' }, caller: { user: { id: 1 }, permissions } })
  expect((await send([])).status).toBe(403)
  expect(await send(['edit'])).toMatchObject({ status: 200, body: { id: 1, readingTime: '1 min' } })
})
