/** A list that is sorted by long texts: its cursor fits into a URL, or the page is refused. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type TestServer } from '../../support/server'

const notes = sqliteTable('notes', { id: integer('id').primaryKey(), body: text('body').notNull() })
const client = new Database(':memory:')
let server: TestServer

beforeAll(async () => {
  client.exec('create table notes (id integer primary key, body text not null)')
  const insert = client.prepare('insert into notes (body) values (?)')
  // Texts with the same start, in which only the end differs.
  for (const body of ['a', `${'b'.repeat(6000)}1`, `${'b'.repeat(6000)}2`, `${'c'.repeat(12_000)}1`, `${'c'.repeat(12_000)}2`])
    insert.run(body)
  server = await createServer({
    db: drizzle({ client }),
    registrations: [{ name: 'notes', schema: notes, authorization: { permissions: { read: true } } }],
  })
})
afterAll(() => void client.close())

const page = async (cursor: string) => (await server.request('GET', `/api/notes?sort=body&fields=id&limit=1&cursor=${cursor}`))

describe('the cursor of a list that is sorted by text', () => {
  it('contains texts of 6 kB, and the pages repeat and skip no row', async () => {
    const ids: number[] = []
    let cursor = ''
    for (let count = 0; count < 3; count++) {
      const { status, body } = await page(cursor)
      expect(status).toBe(200)
      expect(body.meta.nextCursor.length).toBeLessThan(8192)
      ids.push(body.data[0].id)
      cursor = body.meta.nextCursor
    }
    expect(ids).toEqual([1, 2, 3])
    expect(await page(cursor)).toMatchObject({ status: 400, body: { data: { code: 'LIMIT_EXCEEDED', parameter: 'sort' } } })
  })

  it('is not needed for a page by number', async () => {
    const { status, body } = await server.request('GET', '/api/notes?sort=body&fields=id&limit=1&page=4')
    expect([status, body.data]).toEqual([200, [{ id: 4 }]])
  })
})
