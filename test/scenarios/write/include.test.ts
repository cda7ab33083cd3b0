/** `include` of writes: the response contains related records, and an include that is refused is refused before anything is written. */
import { integer, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { ne } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { AutoApiContext } from '../../../src/runtime/server/registration'
import type { Caller } from '../../support/server'
import { ADA, EVERYTHING, openWorld, outcome, type World } from './world'

const customers = sqliteTable('customers', { id: integer('id').primaryKey(), organizationId: integer('organization_id').notNull(), name: text('name') })
const orders = sqliteTable('orders', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull().unique(),
  state: text('state').default('open'),
  customerId: integer('customer_id').references(() => customers.id),
})
const lines = sqliteTable('lines', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  orderId: integer('order_id').notNull().references((): AnySQLiteColumn => orders.id),
  text: text('text').notNull(),
  price: integer('price'),
})
const notes = sqliteTable('notes', {
  id: integer('id').primaryKey(), organizationId: integer('organization_id').notNull(),
  lineId: integer('line_id').notNull().references(() => lines.id), text: text('text').notNull(),
})

const may = (permission: string) => (ctx: { permissions: readonly string[] }) => !ctx.permissions.includes(permission)
const statements: string[] = []
let world: World
beforeAll(async () => {
  world = await openWorld({
    tables: { customers, orders, lines, notes },
    resources: {
      orders: {
        nested: { lines: ['create', 'update', 'delete'] },
        authorization: {
          permissions: { ...EVERYTHING, read: may('no orders') },
          objectLevel: (row, { operation, permissions }) => operation !== 'read' || !permissions.includes('open only') || row.state === 'open',
        },
        hooks: { afterUpdate: order => ({ ...order as object, hooked: true }) },
      },
      lines: {
        authorization: {
          permissions: { ...EVERYTHING, read: may('no lines') },
          listFilter: table => ne((table as typeof lines).text, 'hidden'),
          fields: { price: { read: (ctx: AutoApiContext) => ctx.operation === 'read' } } as never,
        },
      },
    },
    rows: `insert into customers values (1, 1, 'Ada'), (2, 2, 'Theirs');
      insert into orders values (1, 1, 'one', 'open', 1), (2, 1, 'two', 'open', null);
      insert into lines values (11, 1, 1, 'a', 5), (12, 1, 1, 'hidden', 5), (13, 2, 1, 'theirs', 5), (21, 1, 2, 'c', 7);
      insert into notes values (1, 1, 11, 'n')`,
    config: { multiTenancy: DEFAULT_MULTI_TENANCY, http: { etag: true, maxResponseSize: 20_000, strictParameters: true } as never },
    log: statement => statements.push(statement),
  })
})
beforeEach(() => {
  world.reset()
  statements.length = 0
})
afterAll(() => world.client.close())

const as = (...permissions: string[]): Caller => ({ user: { id: 1, organizationId: 1 }, permissions })
const related = 'include=lines.notes,customer'
const got = async (id: number, query = related, caller = ADA) => (await world.send('GET', `orders/${id}?${query}`, undefined, caller)).body

describe('a write with include', () => {
  it('of a new record answers what a get answers, with the tag of the record alone', async () => {
    const body = { title: 'new', customerId: 1, lines: { create: [{ text: 'x', price: 1 }, { text: 'hidden' }, { text: 'y' }] } }
    const answer = await world.send('POST', `orders?${related}`, body)
    const lines = answer.body.lines.map(({ text, price, notes }: Record<string, unknown>) => [text, price, notes])
    expect([answer.status, answer.body.customer, lines]).toEqual([201, { id: 1, organizationId: 1, name: 'Ada' }, [['x', 1, []], ['y', null, []]]])
    expect(answer.body).toEqual(await got(answer.body.id))
    const plain = await world.send('PATCH', `orders/${answer.body.id}`, {})
    const revisionOf = ({ headers }: typeof answer) => headers.get('etag')!.split('.')[0]
    expect(revisionOf(answer)).toBe(revisionOf(plain))
    const headers = { 'if-match': answer.headers.get('etag')! }
    expect((await world.request('PATCH', `/api/orders/${answer.body.id}`, { body: { title: 'newer' }, caller: ADA, headers })).status).toBe(200)
  })

  it('of an existing record contains what its hooks return, too', async () => {
    const { status, body } = await world.send('PATCH', `orders/1?include=lines[text]{limit:1,sort:-id}.notes`, { title: 'changed' })
    expect([status, body]).toEqual([200, { id: 1, organizationId: 1, title: 'changed', state: 'open', customerId: 1, hooked: true,
      lines: [{ text: 'a', notes: [{ id: 1, organizationId: 1, lineId: 11, text: 'n' }] }] }])
  })

  it('of several records has those of each, in as many statements as for one', async () => {
    const count = async (ids: number[]) => {
      statements.length = 0
      const { body } = await world.send('PATCH', `orders/bulk?${related}`, { items: ids.map(id => ({ id, data: { state: 'open' } })) })
      const found = body.data.map(({ lines }: { lines: { id: number }[] }) => lines.map(({ id }) => id))
      expect(found).toEqual(ids.map(id => id === 1 ? [11] : [21]))
      return statements.filter(statement => statement.includes('"lines"') || statement.includes('"customers"')).length
    }
    expect(await count([1, 2])).toBe(await count([1]))
    const items = [{ title: 'x', lines: { create: [{ text: 'x1' }] } }, { title: 'y' }]
    const { body } = await world.send('POST', 'orders/bulk?include=lines', { items })
    expect(body.data.map(({ lines }: { lines: { text: string }[] }) => lines.map(({ text }) => text))).toEqual([['x1'], []])
  })

  it('works for an upsert, of one record and of several', async () => {
    const { body } = await world.send('POST', 'orders/bulk?onConflict=title&include=lines', { items: [{ title: 'new' }, { title: 'one' }] })
    const found = body.data.map(({ title, lines }: { title: string, lines: { id: number }[] }) => [title, lines.map(({ id }) => id)])
    expect(found).toEqual([['new', []], ['one', [11]]])
    const single = await world.send('POST', 'orders?onConflict=title&include=lines', { title: 'two' })
    expect([single.status, single.body.lines.length]).toEqual([200, 1])
  })

  it('includes nothing for a record that the caller can no longer read', async () => {
    const { status, body } = await world.send('PATCH', `orders/1?${related}`, { state: 'closed' }, as('open only'))
    expect([status, body.state, body.lines, body.customer]).toEqual([200, 'closed', [], null])
    expect((await world.send('PATCH', `orders/2?${related}`, { state: 'open' }, as('open only'))).body.lines).toHaveLength(1)
  })

  it('leaves included records out of a response that they make too large', async () => {
    world.client.exec(`with recursive n (value) as (select 1 union all select value + 1 from n where value < 30)
      insert into lines select 100 + value, 1, 1, printf('%.1000c', 'x'), 1 from n`)
    const { status, body } = await world.send('PATCH', 'orders/1?include=lines', { title: 'changed' })
    expect([status, body.title, body.lines]).toEqual([200, 'changed', undefined])
  })
})

describe('an include that a get would refuse', () => {
  it.each([
    ['include=line', as(), '400 UNKNOWN_RELATION'], ['include=lines[secret]', as(), '400 UNKNOWN_FIELD'],
    ['include=lines.order.lines.order.lines.order.lines', as(), '400 LIMIT_EXCEEDED'], ['include={', as(), '400 INVALID_QUERY'],
    ['include=lines', as('no lines'), '403 FORBIDDEN'], ['include=lines', as('no orders'), '403 FORBIDDEN'],
    ['include=customer{limit:1}', as(), '400 INVALID_QUERY'],
  ])('%s is refused before anything is written', async (query, caller, expected) => {
    const before = world.dump()
    for (const [method, path, body] of [
      ['POST', 'orders?', { title: 'x' }], ['PATCH', 'orders/1?', { title: 'x' }], ['POST', 'orders/bulk?', { items: [{ title: 'x' }] }],
      ['PATCH', 'orders/bulk?', { items: [{ id: 1, data: { title: 'x' } }] }], ['POST', 'orders?onConflict=title&', { title: 'one', state: 'x' }],
      ['POST', 'orders/bulk?onConflict=title&', { items: [{ title: 'one', state: 'x' }] }],
    ] as const) expect([path, outcome(await world.send(method, path + query, body, caller))]).toEqual([path, expected])
    expect(world.dump()).toBe(before)
    if (!caller.permissions?.length) expect(outcome(await world.send('GET', `orders/1?${query}`, undefined, caller))).toBe(expected)
  })

  it('is refused in a dry run, whose records are not saved', async () => {
    const before = world.dump()
    const answer = await world.send('POST', 'orders?dryRun=true&include=lines', { title: 'new' })
    expect([outcome(answer), answer.body.data.parameter, world.dump()]).toEqual(['400 INVALID_QUERY', 'include', before])
  })

  it('is not a parameter of other writes', async () => {
    expect(outcome(await world.send('DELETE', 'orders/2?include=lines'))).toBe('400 INVALID_QUERY')
  })
})

it('answers a committed write without included records if they cannot be read', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  world.client.exec('alter table notes rename to gone')
  const { status, body } = await world.send('PATCH', `orders/1?${related}`, { title: 'changed' })
  world.client.exec('alter table gone rename to notes')
  expect([status, body.title, body.lines, log.mock.calls.length]).toEqual([200, 'changed', undefined, 1])
  expect(log.mock.calls[0]![0]).toContain('the included records of a write were not read')
  log.mockRestore()
})
