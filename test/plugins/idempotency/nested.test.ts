/** Idempotency keys of writes with children: a retry writes none of them again, also if the record itself does not change. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { idempotency } from '../../../src/runtime/plugins/index'
import { idempotencyKeysTable } from '../../../src/runtime/plugins/schema-sqlite'
import { createServer, type TestServer } from '../../support/server'

const orders = sqliteTable('orders', { id: integer('id').primaryKey(), title: text('title').notNull() })
const lines = sqliteTable('lines', {
  id: integer('id').primaryKey(), orderId: integer('order_id').notNull().references(() => orders.id), text: text('text').notNull(),
})
const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
const orderTags = sqliteTable('order_tags', {
  orderId: integer('order_id').notNull().references(() => orders.id), tagId: integer('tag_id').notNull().references(() => tags.id),
}, t => [primaryKey({ columns: [t.orderId, t.tagId] })])

let client: Database.Database
let server: TestServer
beforeEach(async () => {
  client = new Database(':memory:')
  client.exec(`create table orders (id integer primary key, title text not null);
    create table lines (id integer primary key, order_id integer not null, text text not null);
    create table tags (id integer primary key, name text not null); insert into tags values (1, 'a'), (2, 'b');
    create table order_tags (order_id integer not null, tag_id integer not null, primary key (order_id, tag_id));
    create table idempotency_keys (id text primary key, parent text, record_id text, fingerprint text not null, access text, status integer,
      body text, created_at integer not null, expires_at integer not null);
    insert into orders values (1, 'one'), (2, 'two'); insert into lines values (1, 1, 'a')`)
  const permissions = { read: true, create: true, update: true, delete: true } as const
  server = await createServer({
    db: drizzle({ client }),
    modules: [{ orders, lines, tags, orderTags, idempotencyKeys: idempotencyKeysTable() }],
    plugins: [idempotency()],
    registrations: [
      { name: 'orders', schema: orders, authorization: { permissions }, nested: { lines: ['create', 'update', 'delete'], tags: ['link', 'unlink'] } },
      { name: 'tags', schema: tags, authorization: { permissions } },
      { name: 'lines', schema: lines, authorization: { permissions } },
    ],
  })
})
afterEach(() => client.close())

it.each([
  ['POST', 'orders', { title: 'new', lines: { create: [{ text: 'x' }, { text: 'y' }] } }, 201],
  ['PATCH', 'orders/1', { title: 'changed', lines: { create: [{ text: 'x' }] } }, 200],
  ['PATCH', 'orders/1', { lines: { create: [{ text: 'x' }] } }, 200],
  ['PATCH', 'orders/1', { lines: { update: [{ id: 1, data: { text: 'b' } }] } }, 200],
  ['POST', 'orders/bulk', { items: [{ title: 'p', lines: { create: [{ text: 'x' }] } }, { title: 'q' }] }, 200],
  ['PATCH', 'orders/bulk', { items: [{ id: 1, data: { lines: { create: [{ text: 'x' }] } } }] }, 200],
  ['PATCH', 'orders/1', { tags: { link: [1, 2] } }, 200],
  ['POST', 'orders', { title: 'new', tags: { link: [2] } }, 201],
])('%s /%s %j takes effect once', async (method, path, body, status) => {
  const send = () => server.request(method, `/api/${path}`, { body, caller: { user: { id: 1 } }, headers: { 'idempotency-key': 'k' } })
  const dump = () => JSON.stringify(['orders', 'lines', 'order_tags'].map(table => client.prepare(`select * from ${table}`).all()))
  const before = dump()
  const first = await send()
  const after = dump()
  const second = await send()
  expect([first.status, second.status, after === before, dump() === after]).toEqual([status, status, false, true])
  expect([second.text, second.headers.get('location'), second.headers.get('idempotent-replayed')])
    .toEqual([first.text, first.headers.get('location'), 'true'])
})

describe('a retry of a write with `include`', () => {
  const send = (method: string, path: string, body: object) =>
    server.request(method, `/api/${path}`, { body, caller: { user: { id: 1 } }, headers: { 'idempotency-key': 'k' } })

  it.each([
    ['POST', 'orders?include=lines', { title: 'new', lines: { create: [{ text: 'x' }] } }],
    ['PATCH', 'orders/1?include=lines', { title: 'changed' }],
    ['PATCH', 'orders/bulk?include=lines', { items: [{ id: 2, data: { title: 'p' } }, { id: 1, data: { title: 'q' } }] }],
    ['POST', 'orders/bulk?include=lines', { items: [{ title: 'p', lines: { create: [{ text: 'x' }] } }, { title: 'q' }] }],
    ['POST', 'orders/bulk?include=lines', { items: [{ title: 'p' }, { title: 'q' }] }],
  ])('%s /%s answers the same body', async (method, path, body) => {
    const first = await send(method, path, body)
    const second = await send(method, path, body)
    expect([first.status < 300, first.text.includes('"lines":['), second.headers.get('idempotent-replayed')]).toEqual([true, true, 'true'])
    expect(second.text).toBe(first.text)
  })

  it('contains no related record that the caller can no longer read', async () => {
    for (const [path, recordOf] of [
      ['orders/1', (body: never) => body], ['orders/bulk', ({ data }: { data: unknown[] }) => data[0]],
    ] as [string, (body: unknown) => object][]) {
      client.exec(`insert into lines values (5, 1, 'b')`)
      const body = path === 'orders/1' ? { title: 'changed' } : { items: [{ id: 1, data: { title: 'changed' } }] }
      expect(recordOf((await send('PATCH', `${path}?include=lines`, body)).body)).toMatchObject({ lines: [{ text: 'a' }, { text: 'b' }] })
      client.exec('delete from lines where id = 5')
      expect(recordOf((await send('PATCH', `${path}?include=lines`, body)).body)).toMatchObject({ title: 'changed', lines: [{ text: 'a' }] })
    }
  })
})
