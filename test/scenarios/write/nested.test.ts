/** The children in the body of a write: an order with its lines, and notes on these, in one commit. */
import { integer, sqliteTable, text, unique, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { AutoApiContext } from '../../../src/runtime/server/registration'
import { EVERYTHING, openWorld, outcome, type World } from './world'

const customers = sqliteTable('customers', { id: integer('id').primaryKey(), organizationId: integer('organization_id').notNull(), name: text('name') })
const orders = sqliteTable('orders', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull().unique(),
  customerId: integer('customer_id').references(() => customers.id),
})
const lines = sqliteTable('lines', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  orderId: integer('order_id').notNull().references((): AnySQLiteColumn => orders.id),
  position: integer('position').notNull(),
  text: text('text').notNull(),
  price: integer('price'),
  customerId: integer('customer_id').references(() => customers.id),
  secret: text('secret'),
}, t => [unique('positions').on(t.orderId, t.position)])
const notes = sqliteTable('notes', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  lineId: integer('line_id').notNull().references(() => lines.id, { onDelete: 'cascade' }),
  text: text('text').notNull(),
})

const calls: string[] = []
const log = (name: string) => vi.fn((first: unknown, second: unknown) => {
  calls.push(name)
  return name.startsWith('before') ? name.startsWith('beforeCreate') ? first : second : undefined
})
const hooksOf = (name: string) => Object.fromEntries(['beforeCreate', 'beforeUpdate', 'beforeDelete', 'afterCreate', 'afterUpdate', 'afterDelete']
  .map(hook => [hook, log(`${hook} ${name}`)]))
const hooks = { orders: hooksOf('order'), lines: hooksOf('line'), notes: hooksOf('note') }

let world: World
beforeAll(async () => {
  world = await openWorld({
    tables: { customers, orders, lines, notes },
    resources: {
      orders: { nested: { lines: ['create', 'update', 'delete'] }, hooks: hooks.orders as never },
      lines: {
        nested: { notes: ['create'] }, hooks: hooks.lines as never, hiddenFields: ['secret'],
        authorization: {
          permissions: { read: true, create: ctx => !ctx.permissions.includes('no lines'), update: ctx => !ctx.permissions.includes('no lines'),
            delete: ctx => !ctx.permissions.includes('no lines') },
          fields: { price: { write: (ctx: AutoApiContext) => !ctx.permissions.includes('no prices') } } as never,
        },
      },
      notes: { hooks: hooks.notes as never, authorization: { permissions: EVERYTHING } },
    },
    rows: `insert into customers values (1, 1, 'Ada'), (2, 2, 'Theirs');
      insert into orders values (1, 1, 'one', 1), (2, 1, 'two', null), (9, 2, 'theirs', null);
      insert into lines (id, organization_id, order_id, position, text) values (11, 1, 1, 1, 'a'), (12, 1, 1, 2, 'b'), (21, 1, 2, 1, 'c'), (91, 2, 9, 1, 'theirs')`,
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
  })
})
beforeEach(() => {
  world.reset()
  calls.length = 0
})
afterAll(() => world.client.close())

const linesOf = (order: number) => world.rows(`select position, text from lines where order_id = ${order} order by position`)
const issuesOf = ({ body }: { body: { data?: { issues?: { path: unknown[] }[] } } }) => body.data?.issues?.map(({ path }) => path)

/** Sends a body that is refused: nothing is written, and no hook runs. */
async function refused(method: string, path: string, body: object, permissions: string[] = []) {
  const before = world.dump()
  const answer = await world.send(method, path, body, { user: { id: 1, organizationId: 1 }, permissions })
  expect([world.dump(), calls]).toEqual([before, []])
  return answer
}

describe('a new record with children', () => {
  it('is written with them, and with their children', async () => {
    const { status, body } = await world.send('POST', 'orders', {
      title: 'new', lines: { create: [{ position: 1, text: 'x', notes: { create: [{ text: 'n1' }, { text: 'n2' }] } }, { position: 2, text: 'y' }] },
    })
    expect([status, Object.keys(body)]).toEqual([201, ['id', 'organizationId', 'title', 'customerId']])
    expect(linesOf(body.id)).toEqual([[1, 'x'], [2, 'y']])
    expect(world.rows(`select l.text, n.text, n.organization_id from notes n join lines l on l.id = n.line_id order by n.id`))
      .toEqual([['x', 'n1', 1], ['x', 'n2', 1]])
    expect(calls).toEqual([
      'beforeCreate order', 'beforeCreate line', 'beforeCreate line', 'beforeCreate note', 'beforeCreate note',
      'afterCreate order', 'afterCreate line', 'afterCreate line', 'afterCreate note', 'afterCreate note',
    ])
  })

  it('has them in a bulk request', async () => {
    const { status, body } = await world.send('POST', 'orders/bulk', { items: [
      { title: 'x', lines: { create: [{ position: 1, text: 'x1' }] } }, { title: 'y' },
      { title: 'z', lines: { create: [{ position: 1, text: 'z1' }, { position: 2, text: 'z2' }] } },
    ] })
    expect(status).toBe(200)
    expect(body.data.map(({ id }: { id: number }) => linesOf(id))).toEqual([[[1, 'x1']], [], [[1, 'z1'], [2, 'z2']]])
  })

  it('sets the foreign key, whatever the body of a child contains', async () => {
    const { body } = await world.send('POST', 'orders', { title: 'new', lines: { create: [{ position: 1, text: 'x', orderId: 9 }] } })
    expect([linesOf(body.id), linesOf(9)]).toEqual([[[1, 'x']], [[1, 'theirs']]])
  })

  it('writes nothing in a dry run', async () => {
    const before = world.dump()
    const { status, body } = await world.send('POST', 'orders?dryRun=true', { title: 'new', lines: { create: [{ position: 1, text: 'x' }] } })
    expect([status, body.title, world.dump()]).toEqual([201, 'new', before])
  })
})

describe('an update with children', () => {
  it('deletes, changes and adds them, so that a new one can take the place of a deleted one', async () => {
    const { status } = await world.send('PATCH', 'orders/1', {
      title: 'changed', lines: { create: [{ position: 1, text: 'new' }], update: [{ id: 12, data: { text: 'B' } }], delete: [11] },
    })
    expect([status, linesOf(1)]).toEqual([200, [[1, 'new'], [2, 'B']]])
    expect(world.rows('select title from orders where id = 1')).toEqual(['changed'])
  })

  it('needs no change of the record itself', async () => {
    expect(outcome(await world.send('PATCH', 'orders/1', { lines: { update: [{ id: 11, data: { text: 'A', notes: { create: [{ text: 'n' }] } } }] } })))
      .toBe('200')
    expect([linesOf(1), world.rows('select line_id from notes')]).toEqual([[[1, 'A'], [2, 'b']], [11]])
  })

  it.each([
    ['of another record', 21], ['of another tenant', 91], ['that does not exist', 77], ['that is no id', 'x'],
  ])('refuses a child %s with 404 and its place', async (_, id) => {
    for (const [action, entry] of [['update', { id, data: { text: 'x' } }], ['delete', id]] as const) {
      const answer = await refused('PATCH', 'orders/1', { lines: { [action]: [action === 'update' ? { id: 11, data: {} } : 11, entry] } })
      expect([outcome(answer), answer.body.data.path]).toEqual(['404 NOT_FOUND', `lines.${action}[1]`])
    }
  })
})

describe('the description', () => {
  it('has the children in the schemas of the bodies, as far as the caller can write them', async () => {
    const describedFor = async (permissions: string[]) =>
      (await world.send('GET', '_schema', undefined, { user: { id: 1, organizationId: 1 }, permissions })).body.resources.orders
    const { validation, relations } = await describedFor([])
    for (const { properties } of [validation.create, validation.update])
      expect(Object.keys(properties.lines.properties)).toEqual(['create', 'update', 'delete'])
    expect(relations.lines.nested).toEqual(['create', 'update', 'delete'])
    const limited = await describedFor(['no lines'])
    expect([limited.validation.create.properties.lines, limited.relations.lines.nested]).toEqual([undefined, undefined])
  })
})

describe('an upsert with children', () => {
  it('writes them with a new record and with an existing one', async () => {
    const { status, body } = await world.send('POST', 'orders/bulk?onConflict=title', { items: [
      { title: 'one', lines: { create: [{ position: 3, text: 'c' }], delete: [11] } }, { title: 'new', lines: { create: [{ position: 1, text: 'x' }] } },
    ] })
    expect([status, body.data.map(({ title }: { title: string }) => title), body.meta]).toMatchObject([200, ['one', 'new'], { created: 1, updated: 1 }])
    expect([linesOf(1), linesOf(body.data[1].id)]).toEqual([[[2, 'b'], [3, 'c']], [[1, 'x']]])
    const single = await world.send('POST', 'orders?onConflict=title', { title: 'two', lines: { update: [{ id: 21, data: { text: 'C' } }] } })
    expect([single.status, linesOf(2)]).toEqual([200, [[1, 'C']]])
  })

  it('names a child that fails', async () => {
    const answer = await refused('POST', 'orders?onConflict=title', { title: 'one', lines: { delete: [21] } })
    expect([outcome(answer), answer.body.data.path]).toEqual(['404 NOT_FOUND', 'lines.delete[0]'])
  })
})

describe('the children of a body', () => {
  it('are validated together with it: each issue has its whole path', async () => {
    const answer = await refused('POST', 'orders', {
      nothing: 1, lines: { create: [{ position: 1, text: 'x' }, { position: 'x' }, { position: 3, text: 'y', notes: { create: [{}, { text: 1 }] } }], upsert: [] },
    })
    expect(outcome(answer)).toBe('400 VALIDATION_FAILED')
    expect(issuesOf(answer)).toEqual([['nothing'], ['title'], ['lines', 'upsert'], ['lines', 'create', 1, 'position'], ['lines', 'create', 1, 'text'],
      ['lines', 'create', 2, 'notes', 'create', 0, 'text'], ['lines', 'create', 2, 'notes', 'create', 1, 'text']])
  })

  it.each([
    [[], ['lines']], [null, ['lines']], [{ create: {} }, ['lines', 'create']], [{ update: [7] }, ['lines', 'update', 0]],
    [{ update: [{ data: {} }] }, ['lines', 'update', 0, 'id']], [{ update: [{ id: 11, data: {}, more: 1 }] }, ['lines', 'update', 0, 'more']],
    [{ delete: [{ id: 11 }] }, ['lines', 'delete', 0]], [{ create: [{ position: 1, text: 'x', notes: { delete: [1] } }] },
      ['lines', 'create', 0, 'notes', 'delete']],
  ])('%j is refused', async (given, path) => {
    const answer = await refused('PATCH', 'orders/1', { lines: given })
    expect([outcome(answer), issuesOf(answer)]).toEqual(['400 VALIDATION_FAILED', [path]])
  })

  it.each([
    ['a permission', ['no lines'], { create: [{ position: 3, text: 'x' }] }, '403 FORBIDDEN', 'lines.create'],
    ['a field', ['no prices'], { create: [{ position: 3, text: 'x' }, { position: 4, text: 'x', price: 1 }] }, '403 FIELD_FORBIDDEN', 'lines.create[1]'],
    ['a reference', [], { create: [{ position: 3, text: 'x', customerId: 2 }] }, '400 INVALID_REFERENCE', 'lines.create[0]'],
    ['a unique constraint', [], { create: [{ position: 3, text: 'x' }, { position: 2, text: 'x' }] }, '409 CONFLICT', 'lines.create[1]'],
  ])('obey the rules of their own resource: %s', async (_, permissions, given, expected, path) => {
    const before = world.dump()
    const answer = await world.send('PATCH', 'orders/1', { lines: given }, { user: { id: 1, organizationId: 1 }, permissions })
    expect([outcome(answer), answer.body.data.path, world.dump()]).toEqual([expected, path, before])
  })

  it('of a bulk request fail with the index of their record', async () => {
    const before = world.dump()
    const { status, body } = await world.send('PATCH', 'orders/bulk', { items: [
      { id: 2, data: { title: 'x' } }, { id: 1, data: { lines: { delete: [21] } } }, { id: 9, data: { lines: { delete: [91] } } },
    ] })
    expect([status, body.data.code, world.dump()]).toEqual([404, 'BULK_FAILED', before])
    expect(body.data.errors).toEqual([expect.objectContaining({ index: 1, statusCode: 404, path: 'lines.delete[0]' }),
      expect.objectContaining({ index: 2, statusCode: 404 })])
  })

  it('are at most 500, and at most three levels below the record', async () => {
    const many = Array.from({ length: 501 }, (_, position) => ({ position, text: 'x' }))
    expect(outcome(await refused('POST', 'orders', { title: 'x', lines: { create: many } }))).toBe('400 LIMIT_EXCEEDED')
    expect(outcome(await world.send('POST', 'orders', { title: 'x', lines: { create: many.slice(1) } }))).toBe('201')
  })

  it('are a key like any unknown one where the resource does not list them', async () => {
    const answer = await refused('PATCH', 'notes/1', { line: { update: [] } })
    expect(issuesOf(answer)).toEqual([['line']])
  })
})
