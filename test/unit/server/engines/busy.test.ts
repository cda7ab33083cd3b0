/** A SQLite file locked by another process returns 503 `BUSY` with `Retry-After`, for a single write and for a batch. */
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createServer, type TestServer } from '../../../support/server'

const notes = sqliteTable('notes', { id: integer('id').primaryKey(), text: text('text').notNull() })
const FILE = join(tmpdir(), `busy-${crypto.randomUUID()}.db`)

let own: Database.Database
let other: Database.Database
let server: TestServer

beforeEach(async () => {
  own = new Database(FILE, { timeout: 0 })
  other = new Database(FILE, { timeout: 0 })
  own.exec(`create table notes (id integer primary key, text text not null); insert into notes values (1, 'one'), (2, 'two')`)
  const permissions = { read: true, create: true, update: true, delete: true } as const
  server = await createServer({
    db: drizzle({ client: own }),
    registrations: [{ name: 'notes', schema: notes, authorization: { permissions } }],
    config: { bulk: { enabled: true, maxBatchSize: 100, transactional: true } },
  })
})
afterEach(() => {
  own.close()
  other.close()
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(FILE + end, { force: true })
})

const told = async (method: string, path: string, body?: unknown) => {
  const { status, body: answer, headers } = await server.request(method, `/api/${path}`, { body, caller: { user: { id: 1 } } })
  return [status, answer.data?.code, headers.get('retry-after')]
}
const rows = () => own.prepare('select * from notes').raw().all()

describe('a file that another process is writing', () => {
  it.each<[string, string, unknown?]>([
    ['PATCH', 'notes/1', { text: 'new' }], ['DELETE', 'notes/1'], ['POST', 'notes', { text: 'new' }],
    ['PATCH', 'notes/bulk', { items: [1, 2].map(id => ({ id, data: { text: 'new' } })) }], ['DELETE', 'notes/bulk', { ids: [1, 2] }],
  ])('is busy: %s %s', async (method, path, body) => {
    other.exec('begin immediate')
    expect(await told(method, path, body)).toEqual([503, 'BUSY', '1'])
    other.exec('rollback')
    expect(rows()).toEqual([[1, 'one'], [2, 'two']])
    expect((await told(method, path, body))[0]).toBeLessThan(300)
  })

  it('returns 503 to readers while the whole file is locked', async () => {
    other.exec('begin exclusive')
    expect(await told('GET', 'notes')).toEqual([503, 'BUSY', '1'])
    other.exec('rollback')
    expect((await told('GET', 'notes'))[0]).toBe(200)
  })
})

describe('independent items', () => {
  it('all return BUSY, with Retry-After', async () => {
    const config = { bulk: { enabled: true, maxBatchSize: 100, transactional: false } }
    const permissions = { read: true, create: true, update: true, delete: true } as const
    server = await createServer({
      db: drizzle({ client: own }),
      registrations: [{ name: 'notes', schema: notes, authorization: { permissions } }],
      config,
    })
    other.exec('begin immediate')
    expect(await told('DELETE', 'notes/bulk', { ids: [1, 2] })).toEqual([503, 'BULK_FAILED', '1'])
    other.exec('rollback')
    expect(rows()).toHaveLength(2)
  })
})
