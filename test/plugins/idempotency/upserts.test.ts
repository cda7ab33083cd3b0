/** Idempotency keys of upserts: a retry gets the response of the first request, whether that created or updated a record. */
import Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { idempotency } from '../../../src/runtime/plugins/index'
import { idempotencyKeysTable } from '../../../src/runtime/plugins/schema-sqlite'
import { createServer, type TestServer } from '../../support/server'

const tags = sqliteTable('tags', {
  id: integer('id').primaryKey(),
  slug: text('slug').notNull().unique(),
  code: text('code').unique(),
  name: text('name'),
  secret: text('secret'),
})

const hooks = { afterCreate: vi.fn(), afterUpdate: vi.fn() }
let client: Database.Database
let server: TestServer
beforeEach(async () => {
  client = new Database(':memory:')
  client.exec(`create table tags (id integer primary key, slug text not null unique, code text unique, name text, secret text);
    create table idempotency_keys (id text primary key, parent text, record_id text, fingerprint text not null, access text, status integer,
      body text, created_at integer not null, expires_at integer not null);
    insert into tags values (1, 'old', 'o', 'Old', '')`)
  server = await createServer({
    db: drizzle({ client }),
    modules: [{ tags, idempotencyKeys: idempotencyKeysTable() }],
    plugins: [idempotency()],
    config: { bulk: { enabled: true, maxBatchSize: 100, transactional: false } as never },
    registrations: [{
      name: 'tags', schema: tags, hooks: hooks as never,
      authorization: {
        permissions: { read: true, create: 'write', update: 'write', delete: true },
        listFilter: table => sql`${(table as typeof tags).secret} is not 'yes'`,
      },
    }],
  })
})
afterEach(() => {
  client.close()
  vi.clearAllMocks()
})

const send = (path: string, body: object, key = 'k', caller = { user: { id: 1 }, permissions: ['write'] }) =>
  server.request('POST', `/api/${path}`, { body, caller, headers: { 'idempotency-key': key } })
const dump = () => client.prepare('select * from tags order by id').all()
const runs = () => hooks.afterCreate.mock.calls.length + hooks.afterUpdate.mock.calls.length

const REQUESTS: [string, string, object, number][] = [
  ['creates a record', 'tags?onConflict=slug', { slug: 'new', name: 'New' }, 201],
  ['updates a record', 'tags?onConflict=slug', { slug: 'old', name: 'New' }, 200],
  ['changes nothing', 'tags?onConflict=slug', { slug: 'old' }, 200],
  ['changes nothing, in bulk', 'tags/bulk?onConflict=slug', { items: [{ slug: 'old' }] }, 200],
  ['creates and updates', 'tags/bulk?onConflict=slug', { items: [{ slug: 'new' }, { slug: 'old', name: 'New' }] }, 200],
]

it.each(REQUESTS)('a request that %s takes effect once, and its retry has the same response', async (_, path, body, status) => {
  const first = await send(path, body)
  expect(first.status).toBe(status)
  const [rows, count] = [dump(), runs()]
  client.exec('update tags set name = \'changed meanwhile\' where slug = \'old\'')
  const changed = dump()
  const again = await send(path, body)
  expect([again.status, again.text, again.headers.get('location')]).toEqual([first.status, first.text, first.headers.get('location')])
  expect([again.headers.get('idempotent-replayed'), first.headers.get('idempotent-replayed')]).toEqual(['true', null])
  expect([dump(), runs()]).toEqual([changed, count])
  expect(rows.length).toBe(changed.length)
})

it.each(REQUESTS)('a request that %s refuses another body with its key', async (_, path, body) => {
  await send(path, body)
  const before = dump()
  const other = 'items' in body ? { items: [{ slug: 'other' }] } : { slug: 'other' }
  expect((await send(path, other)).body.data.code).toBe('IDEMPOTENCY_MISMATCH')
  expect(dump()).toEqual(before)
})

it.each(REQUESTS)('the retry of a request that %s is a 404 for a caller who can no longer see a record of it', async (_, path, body) => {
  await send(path, body)
  client.exec('update tags set secret = \'yes\'')
  expect((await send(path, body)).status).toBe(404)
})

it('the retry is a 404 if only a record that did not change is invisible now', async () => {
  const body = { items: [{ slug: 'new' }, { slug: 'old' }] }
  expect((await send('tags/bulk?onConflict=slug', body)).body.meta).toMatchObject({ created: 1, updated: 1 })
  client.exec('update tags set secret = \'yes\' where slug = \'old\'')
  expect((await send('tags/bulk?onConflict=slug', body)).status).toBe(404)
})

it.each(REQUESTS)('the retry of a request that %s is a conflict if the response is lost', async (_, path, body) => {
  await send(path, body)
  client.exec('update idempotency_keys set status = null, body = null, created_at = 1000')
  const before = dump()
  expect((await send(path, body)).status).toBe(409)
  expect(dump()).toEqual(before)
})

it('another constraint, and a plain create, are other requests', async () => {
  const body = { slug: 'new', code: 'n' }
  const answers = [await send('tags?onConflict=slug', body), await send('tags?onConflict=code', body), await send('tags', body)]
  expect(answers.map(({ status, headers }) => [status, headers.get('idempotent-replayed')])).toEqual([[201, null], [200, null], [409, null]])
})

it('a refused request stores no key', async () => {
  expect((await send('tags/bulk?onConflict=slug', { items: [{ slug: 'new' }, { slug: 'new' }] })).status).toBe(409)
  expect(client.prepare('select count(*) from idempotency_keys').pluck().get()).toBe(0)
})

it('20 requests at once take effect once', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => send('tags?onConflict=slug', { slug: 'new' })))
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set([`201 ${answers[0]!.text}`]))
  expect(runs()).toBe(1)
})
