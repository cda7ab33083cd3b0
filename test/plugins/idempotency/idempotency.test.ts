/** Idempotency keys: the mistakes that stop the server, the keys that are refused, and the task that removes expired keys. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import { idempotency } from '../../../src/runtime/plugins/index'
import { idempotencyKeysTable } from '../../../src/runtime/plugins/schema-sqlite'
import { createServer, type TestServer } from '../../support/server'

const notes = sqliteTable('notes', { id: integer('id').primaryKey(), title: text('title').notNull() })
const WRITER = { user: { id: 1 } }

let client: Database.Database | undefined
afterEach(() => {
  client?.close()
  client = undefined
})

function open(
  plugins: unknown[] = [idempotency()],
  module: object = { notes, idempotencyKeys: idempotencyKeysTable() },
  hooks: object = {},
): Promise<TestServer> {
  client = new Database(':memory:')
  client.exec(`create table notes (id integer primary key, title text not null);
    create table idempotency_keys (id text primary key, parent text, record_id text, fingerprint text not null, access text, status integer,
      body text, created_at integer not null, expires_at integer not null)`)
  return createServer({
    db: drizzle({ client }),
    modules: [module as Record<string, unknown>],
    plugins: plugins as never,
    registrations: [{ name: 'notes', schema: notes, hooks, authorization: { permissions: { read: true, create: true } } }],
  })
}

const create = (server: TestServer, key: string) =>
  server.request('POST', '/api/notes', { body: { title: 'x' }, headers: { 'idempotency-key': key }, caller: WRITER })
const count = (table: string) => client!.prepare(`select count(*) from ${table}`).pluck().get()

describe('a mistake stops the server', () => {
  it.each<[string, () => unknown, string]>([
    ['an unknown option', () => idempotency({ tll: '1h' } as never), 'Did you mean `ttl`?'],
    ['a time without a unit', () => idempotency({ ttl: '24' }), '`idempotency.ttl`'],
    ['a time of zero', () => idempotency({ ttl: '0h' }), '`idempotency.ttl`'],
  ])('%s', (_what, make, message) => {
    expect(make).toThrow(message)
  })

  it('a schema without the table', async () => {
    await expect((async () => open([idempotency()], { notes }))()).rejects.toThrow(
      'idempotency: the schema exports no table of `idempotencyKeysTable()`',
    )
  })
})

describe('the key of a request', () => {
  it.each<[string, string]>([
    ['an empty quoted key', '""'],
    ['an open quote', '"a'],
    ['a quote within', 'a"b'],
    ['256 characters', 'k'.repeat(256)],
    ['a letter outside ASCII', 'é'],
    ['a backslash before a letter', '"a\\b"'],
  ])('%s is a 400, and nothing is written', async (_what, key) => {
    const server = await open()
    expect(await create(server, key)).toMatchObject({ status: 400, body: { data: { code: 'INVALID_VALUE' } } })
    expect(count('notes')).toBe(0)
  })

  it('is the same with and without quotes', async () => {
    const server = await open()
    const first = await create(server, 'a-1')
    const second = await create(server, '"a-1"')
    expect([first.status, second.status, second.text, count('notes')]).toEqual([201, 201, first.text, 1])
  })

  it('is refused from an anonymous caller, who would share it with others', async () => {
    const server = await open()
    expect(await server.request('POST', '/api/notes', { body: { title: 'x' }, headers: { 'idempotency-key': 'k' } })).toMatchObject({
      status: 400,
    })
  })
})

it('the hourly task removes expired keys, and keeps the others', async () => {
  const server = await open()
  await create(server, 'old')
  client!.exec('update idempotency_keys set expires_at = 1000')
  await create(server, 'new')
  expect(count('idempotency_keys')).toBe(4)
  const { useRuntime } = await import('../../../src/runtime/server/api/runtime')
  const api = useRuntime().api() as unknown as { scheduler: { runNow: (task: string) => Promise<void> } }
  await api.scheduler.runNow('idempotency:expired')
  expect(count('idempotency_keys')).toBe(2)
  expect((await create(server, 'new')).headers.get('idempotent-replayed')).toBe('true')
  expect((await create(server, 'old')).headers.get('idempotent-replayed')).toBeNull()
})

it('a retry without a stored response shows nothing that `afterGet` hides', async () => {
  const hide = (note: object) => ({ ...note, title: '***' })
  const server = await open(undefined, undefined, { afterCreate: hide, afterGet: hide })
  expect((await create(server, 'k')).body.title).toBe('***')
  client!.exec('update idempotency_keys set status = null, body = null, created_at = 1000')
  const retry = await create(server, 'k')
  expect([retry.headers.get('idempotent-replayed'), retry.body]).toEqual(['true', { id: 1, title: '***' }])
})
