/** Children and `onConflict` in the tools of `mcp`: what the schemas show, and what the tools write. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import { mcp, type McpOptions } from '../../../src/runtime/plugins/index'
import { openTokenApi, type TokenApi } from '../../support/api-tokens'
import { connectMcp } from '../../support/mcp'

const id = () => integer('id').primaryKey({ autoIncrement: true })
const orders = sqliteTable('orders', { id: id(), number: text('number').notNull().unique(), note: text('note') })
const lines = sqliteTable('lines', {
  id: id(), orderId: integer('order_id').notNull().references(() => orders.id), text: text('text').notNull(),
})
const parts = sqliteTable('parts', {
  id: id(), lineId: integer('line_id').notNull().references(() => lines.id), name: text('name').notNull(),
})
const SQL = `create table orders (id integer primary key autoincrement, number text not null unique, note text);
  create table lines (id integer primary key autoincrement, order_id integer not null references orders (id), text text not null);
  create table parts (id integer primary key autoincrement, line_id integer not null references lines (id), name text not null);`

const permissions = { read: true, create: true, update: true, delete: true } as const

let api: TokenApi | undefined
afterEach(async () => {
  await api?.close()
  api = undefined
})

async function connect(options: McpOptions = {}) {
  api = await openTokenApi({
    plugins: [mcp({ write: true, ...options })],
    before: SQL,
    registrations: [
      { name: 'orders', schema: orders, authorization: { permissions }, nested: { lines: ['create', 'update', 'delete'] } },
      { name: 'lines', schema: lines, authorization: { permissions: { ...permissions, delete: 'nobody' } }, nested: { parts: ['create'] } },
      { name: 'parts', schema: parts, authorization: { permissions } },
    ],
  })
  const { token } = await api.make(1)
  return await connectMcp({ token, fetch: request => api!.server.fetch(request) })
}

const textsOf = () => api!.client.prepare('select text from lines order by id').pluck().all()

describe('children', () => {
  it('are in the schemas of the bodies, with the actions that the caller can use', async () => {
    const { call } = await connect()
    const { bodies, relations } = (await call('describe', { resource: 'orders' })).result
    const data = { type: 'object', description: 'A body of the related resource, without its foreign key.' }
    const update = { type: 'object', properties: { id: { type: ['string', 'integer'] }, data }, required: ['id', 'data'] }
    for (const body of [bodies.create, bodies.update]) {
      expect(body.properties.lines).toEqual({
        type: 'object', additionalProperties: false,
        properties: { create: { type: 'array', items: data }, update: { type: 'array', items: update } },
      })
    }
    expect(relations.lines).toMatchObject({ target: 'lines', nested: ['create', 'update'] })
  })

  it('are written with their record', async () => {
    const { call } = await connect()
    const { result } = await call('create', { resource: 'orders', values: { number: 'a', lines: { create: [
      { text: 'rope', parts: { create: [{ name: 'hook' }] } }, { text: 'anchor' },
    ] } } })
    expect(result.record).toEqual({ id: 1, number: 'a', note: null })
    const values = { lines: { update: [{ id: 2, data: { text: 'chain' } }], create: [{ text: 'sail' }] } }
    expect((await call('update', { resource: 'orders', id: 1, values })).result.record).toMatchObject({ number: 'a' })
    expect(textsOf()).toEqual(['rope', 'chain', 'sail'])
    const removed = await call('update', { resource: 'orders', id: 1, values: { lines: { delete: [1] } } })
    expect(removed.result.error).toMatchObject({ status: 403, path: 'lines.delete' })
  })

  it('of a resource that the tools cannot use are neither described nor written', async () => {
    const { call } = await connect({ except: ['parts'] })
    expect((await call('describe', { resource: 'lines' })).result.bodies.create.properties).not.toHaveProperty('parts')
    const child = { text: 'rope', parts: { create: [{ name: 'hook' }] } }
    const attempts = [
      call('create', { resource: 'lines', values: { orderId: 1, ...child } }),
      call('create', { resource: 'orders', values: { number: 'a', lines: { create: [child] } } }),
      call('update', { resource: 'orders', id: 1, values: { lines: { update: [{ id: 1, data: child }] } } }),
    ]
    for (const { result } of await Promise.all(attempts)) expect(result.error).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect(textsOf()).toEqual([])
    const plain = await call('create', { resource: 'orders', values: { number: 'a', lines: { create: [{ text: 'rope' }] } } })
    expect([plain.isError, textsOf()]).toEqual([false, ['rope']])
  })
})

describe('`onConflict`', () => {
  it('updates the record that has the values, and creates one otherwise', async () => {
    const { call } = await connect()
    const upsert = (values: object) => call('create', { resource: 'orders', values, onConflict: ['number'] })
    const first = await upsert({ number: 'a', note: 'one' })
    expect(first.result).toMatchObject({ record: { id: 1, note: 'one' }, created: true })
    const second = await upsert({ number: 'a', note: 'two', lines: { create: [{ text: 'rope' }] } })
    expect(second.result).toMatchObject({ record: { id: 1, note: 'two' }, created: false })
    expect(textsOf()).toEqual(['rope'])
    expect((await call('create', { resource: 'orders', values: { number: 'a' } })).result.error.code).toBe('CONFLICT')
    expect((await call('create', { resource: 'orders', values: { number: 'b' } })).result).not.toHaveProperty('created')
  })

  it('names the fields of a unique constraint', async () => {
    const { call } = await connect()
    const { result } = await call('create', { resource: 'orders', values: { number: 'a' }, onConflict: ['note'] })
    expect(result.error).toMatchObject({ status: 400, message: expect.stringContaining('You can name: `number`.') })
  })
})
