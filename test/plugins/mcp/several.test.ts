/** Children and `onConflict` in the tools of `mcp`: what the schemas show, and what the tools write. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import { mcp, responseCache, type McpOptions } from '../../../src/runtime/plugins/index'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
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

async function connect(options: McpOptions = {}, more: readonly unknown[] = []) {
  api = await openTokenApi({
    plugins: [...more, mcp({ write: true, ...options })],
    before: SQL,
    config: { filters: { ...DEFAULT_CONFIG.filters, extended: true } },
    registrations: [
      { name: 'orders', schema: orders, authorization: { permissions }, nested: { lines: ['create', 'update', 'delete'] } },
      { name: 'lines', schema: lines, authorization: { permissions: { ...permissions, delete: 'nobody' } }, nested: { parts: ['create'] } },
      { name: 'parts', schema: parts, authorization: { permissions } },
    ],
  })
  const { token } = await api.make(1)
  return { token, ...await connectMcp({ token, fetch: request => api!.server.fetch(request) }) }
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

describe('relations to a resource that the tools cannot use', () => {
  const reads: readonly (readonly [string, object])[] = [
    ['list', { include: ['lines'] }], ['list', { counts: ['lines'] }], ['list', { filter: { lines: { text: 'rope' } } }],
    ['list', { sort: ['lines.$count'] }], ['get', { id: 1, include: { lines: { limit: 1 } } }], ['get', { id: 1, counts: ['lines'] }],
    ['aggregate', { filter: { lines: { $count: 1 } } }],
  ]
  it.each<[string, McpOptions]>([['except', { except: ['lines'] }], ['resources', { resources: ['orders', 'parts'] }]])(
    'are unknown, by `%s`', async (_, options) => {
      const { call } = await connect(options)
      api!.client.exec(`insert into orders values (1, 'a', null); insert into lines values (1, 1, 'rope'); insert into parts values (1, 1, 'x')`)
      expect((await call('describe', { resource: 'orders' })).result.relations).toEqual({})
      expect((await call('describe', { resource: 'parts' })).result.fields.lineId).not.toHaveProperty('references')
      const results = await Promise.all(reads.map(async ([tool, args]) => (await call(tool, { resource: 'orders', ...args })).result.error))
      const deep = (await call('list', { resource: 'parts', include: ['line.order'] })).result.error
      const sorted = (await call('list', { resource: 'parts', sort: ['line.text'] })).result.error
      expect([...results, deep, sorted].map(error => `${error?.code} ${error?.parameter}`)).toEqual([
        'UNKNOWN_RELATION include', 'UNKNOWN_RELATION counts', 'UNKNOWN_FIELD filter', 'UNKNOWN_FIELD sort',
        'UNKNOWN_RELATION include', 'UNKNOWN_RELATION counts', 'UNKNOWN_FIELD filter', 'UNKNOWN_RELATION include', 'UNKNOWN_FIELD sort',
      ])
      // Requests that are not sent by a tool still use them.
      const { body } = await api!.server.request('GET', '/api/orders?include=lines&counts=lines', { caller: api!.session(1) })
      expect(body.data).toMatchObject([{ lines: [{ text: 'rope' }], _count: { lines: 1 } }])
      expect((await call('list', { resource: 'orders', filter: { number: 'a' } })).result.data).toEqual([{ id: 1, number: 'a', note: null }])
    })

  it('are not in a stored response either', async () => {
    const { call, token } = await connect({ except: ['lines'] }, [responseCache({ resources: ['orders', 'lines'] })])
    for (const state of ['stored', 'hit'])
      expect((await api!.ask(token, 'GET', '/api/orders?limit=20&cursor=&include=lines')).headers.get('cache-status')).toContain(state)
    expect((await call('list', { resource: 'orders', include: ['lines'] })).result.error).toMatchObject({ code: 'UNKNOWN_RELATION' })
  })

  it('are read otherwise', async () => {
    const { call } = await connect()
    api!.client.exec('insert into orders values (1, \'a\', null)')
    for (const [tool, args] of reads) expect((await call(tool, { resource: 'orders', ...args })).result).not.toHaveProperty('error')
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
