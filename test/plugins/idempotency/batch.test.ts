/** Idempotency keys of batches: a batch takes effect once, and a retry sees its response only with the rights of the first request. */
import Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { batch, idempotency } from '../../../src/runtime/plugins/index'
import { idempotencyKeysTable } from '../../../src/runtime/plugins/schema-sqlite'
import { createServer, type Caller, type TestServer } from '../../support/server'

const orders = sqliteTable('orders', {
  id: integer('id').primaryKey(), number: text('number').notNull(), margin: integer('margin'), hidden: integer('hidden').notNull().default(0),
})
const lines = sqliteTable('lines', { id: integer('id').primaryKey(), orderId: integer('order_id').references(() => orders.id), text: text('text') })

const ADA: Caller = { user: { id: 1 }, permissions: ['write'] }

let client: Database.Database
let server: TestServer
let creates: number
let allowed: boolean
let fail: boolean

beforeEach(async () => {
  [creates, allowed, fail] = [0, true, false]
  client = new Database(':memory:')
  client.exec(`create table orders (id integer primary key, number text not null, margin integer, hidden integer not null default 0);
    create table lines (id integer primary key, order_id integer references orders (id), text text);
    create table idempotency_keys (id text primary key, parent text, record_id text, fingerprint text not null, access text, status integer,
      body text, created_at integer not null, expires_at integer not null);
    insert into orders (id, number) values (1, 'A1'), (2, 'A2'); insert into lines values (1, 1, 'one')`)
  const permissions = { read: true, create: 'write', update: () => allowed, delete: 'write' } as const
  server = await createServer({
    db: drizzle({ client }),
    modules: [{ orders, lines, idempotencyKeys: idempotencyKeysTable() }],
    plugins: [idempotency(), batch()],
    registrations: [
      {
        name: 'orders',
        schema: orders,
        authorization: {
          permissions,
          fields: { margin: { read: (ctx: { user: { staff?: boolean } | null }) => ctx.user?.staff === true } } as never,
          listFilter: table => sql`${(table as typeof orders).hidden} = 0`,
        },
        hooks: {
          beforeCreate: () => void creates++,
          afterCreate() {
            if (fail) throw new Error('stopped after the commit')
          },
        },
      },
      { name: 'lines', schema: lines, authorization: { permissions } },
    ],
  })
})
afterEach(() => {
  client.close()
  vi.restoreAllMocks()
})

const STEPS = [
  { resource: 'orders', operation: 'create', data: { number: 'B1' }, as: 'order' },
  { resource: 'lines', operation: 'create', data: { orderId: { $ref: 'order.id' }, text: 'new' } },
  { resource: 'orders', operation: 'update', id: 1, data: {} },
  { resource: 'lines', operation: 'delete', id: 1 },
]
const send = (steps: unknown = STEPS, { caller = ADA, key = 'k', query = '' } = {}) =>
  server.request('POST', `/api/batch${query}`, { body: { steps }, caller, headers: { 'idempotency-key': key } })
const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed')
const count = (table: string) => client.prepare(`select count(*) from ${table}`).pluck().get()
const loseResponse = () => client.exec('update idempotency_keys set status = null, body = null, created_at = 1000 where parent is null')
const code = ({ status, body }: { status: number, body: { data?: { code?: string } } }) => `${status} ${body.data?.code ?? ''}`

it('takes effect once, and a retry gets the response of the first request', async () => {
  const [first, again] = [await send(), await send()]
  expect([first.status, replayed(first), first.body.data]).toEqual([200, null, [
    { id: 3, number: 'B1', hidden: 0 }, { id: 2, orderId: 3, text: 'new' }, { id: 1, number: 'A1', hidden: 0 }, { success: true, softDeleted: false },
  ]])
  expect([again.status, replayed(again), again.text, count('orders'), creates]).toEqual([200, 'true', first.text, 3, 1])
  expect(code(await send(STEPS.slice(0, 1)))).toBe('422 IDEMPOTENCY_MISMATCH')
  expect([replayed(await send(STEPS, { caller: { ...ADA, user: { id: 2 } }, key: 'k' })), count('orders')]).toEqual([null, 3])
})

it('takes effect once for 20 parallel requests', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => send()))
  expect([new Set(answers.map(({ text }) => text)).size, count('orders'), creates]).toEqual([1, 3, 1])
})

it('stores the key and every record in the commit of the steps', async () => {
  await send()
  expect(client.prepare('select record_id, body from idempotency_keys where parent is not null order by body').raw().all())
    .toEqual([['2', 'create lines'], ['3', 'create orders'], ['1', 'delete lines']])
})

it('stores no refused batch and no dry run', async () => {
  expect((await send(STEPS, { query: '?dryRun=true' })).status).toBe(200)
  expect(code(await send([...STEPS, { resource: 'lines', operation: 'delete', id: 77 }]))).toBe('404 BULK_FAILED')
  expect(code(await send([]))).toBe('400 INVALID_BODY')
  expect([count('idempotency_keys'), count('orders'), (await send()).status]).toEqual([0, 2, 200])
})

it('authorizes each step of a retry again', async () => {
  await send()
  allowed = false
  expect(code(await send())).toBe('403 FORBIDDEN')
})

it('returns 404 if the caller can no longer see a record that a step has written', async () => {
  await send()
  client.exec('update orders set hidden = 1 where id = 3')
  expect(code(await send())).toBe('404 NOT_FOUND')
  client.exec('update orders set hidden = 0 where id = 3; delete from lines where id = 2')
  expect(code(await send())).toBe('404 NOT_FOUND')
})

it('returns 404 if the caller can no longer see a record that a step names without a change', async () => {
  const steps = [{ ...STEPS[2], as: 'first' }, { resource: 'orders', operation: 'update', id: { $ref: 'first.id' }, data: {} }, STEPS[0]]
  expect((await send(steps)).status).toBe(200)
  client.exec('update orders set hidden = 1 where id = 1')
  expect(code(await send(steps))).toBe('404 NOT_FOUND')
})

it('returns 409 if the caller can read other fields, or has other permissions', async () => {
  await send()
  expect(code(await send(STEPS, { caller: { ...ADA, user: { id: 1, staff: true } } }))).toBe('409 CONFLICT')
  expect(code(await send(STEPS, { caller: { ...ADA, permissions: ['write', 'more'] } }))).toBe('409 CONFLICT')
  expect(count('orders')).toBe(3)
})

it('returns 409 if the response is lost, and writes nothing again', async () => {
  await send()
  loseResponse()
  expect([code(await send()), count('orders')]).toEqual(['409 CONFLICT', 3])
})

it('returns 409 after an after-hook has failed, because the commit has stored the key', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  fail = true
  expect((await send()).status).toBe(500)
  fail = false
  loseResponse()
  expect([code(await send()), count('orders')]).toEqual(['409 CONFLICT', 3])
})

it('repeats a batch that updates a record and then deletes it', async () => {
  const steps = [
    { resource: 'lines', operation: 'update', id: 1, data: { text: 'x' }, as: 'line' },
    { resource: 'lines', operation: 'delete', id: { $ref: 'line.id' } },
  ]
  const [first, again] = [await send(steps), await send(steps)]
  expect([first.status, replayed(again), again.text]).toEqual([200, 'true', first.text])
})
