/** A database opened per request is opened once, and shares nothing with the next request. */
import { drizzle } from 'drizzle-orm/d1'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openD1, type LocalD1 } from '../../../support/d1'
import { createServer, type TestServer } from '../../../support/server'

const notes = sqliteTable('notes', { id: integer().primaryKey(), text: text().notNull() })
const registrations = [{ name: 'notes', schema: notes, authorization: { permissions: { read: true, create: true } } }]
const databases: LocalD1[] = []
const asked: unknown[] = []
let prepared = 0
let server: TestServer

beforeAll(async () => {
  databases.push(await openD1(), await openD1())
  for (const { exec } of databases) await exec('create table notes (id integer primary key, text text not null)')
  server = await createServer({
    registrations: registrations as never,
    engine: 'd1',
    db: (event: { headers: Headers }) => {
      asked.push(event)
      const { d1 } = databases[Number(event.headers.get('x-database') ?? 0)]!
      return drizzle(d1 as never, { logger: { logQuery: () => void prepared++ } })
    },
  })
})

afterAll(async () => {
  for (const { close } of databases) await close()
})

beforeEach(() => {
  asked.length = 0
})

const on = (database: number) => ({ headers: { 'x-database': String(database) } })

describe('a database per request', () => {
  it('is opened once per request', async () => {
    await server.request('GET', '/api/notes')
    await server.request('POST', '/api/notes', { body: { text: 'first' } })
    expect(asked.length).toBe(2)
    expect(new Set(asked).size).toBe(2)
  })

  it('belongs to its request only, whatever another request did before', async () => {
    for (const database of [1, 0, 1]) await server.request('POST', '/api/notes', { ...on(database), body: { text: `of ${database}` } })
    const texts = async (database: number) =>
      (await server.request('GET', '/api/notes?filter[text][$like]=of', on(database))).body.data.map(({ text }: { text: string }) => text)
    expect(await texts(0)).toEqual(['of 0'])
    expect(await texts(1)).toEqual(['of 1', 'of 1'])
    expect(await Promise.all([texts(0), texts(1), texts(0)])).toEqual([['of 0'], ['of 1', 'of 1'], ['of 0']])
  })

  it('logs each statement as the app configured', async () => {
    prepared = 0
    await server.request('GET', '/api/notes?count=none')
    expect(prepared).toBe(1)
  })
})
