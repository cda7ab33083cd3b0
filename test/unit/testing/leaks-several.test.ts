/** `expectNoLeaks` with records that are written together: children in the body of their parent, and steps of a batch. */
import Database from 'better-sqlite3'
import { eq } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { createError } from 'h3'
import { describe, expect, it } from 'vitest'
import { batch } from '../../../src/runtime/plugins'
import { tenant } from '../../../src/runtime/plugins/schema-sqlite'
import { defineAutoApiPlugin, type ResourceAuth } from '../../../src/runtime/server/define'
import { createTestApi, expectNoLeaks, type LeakOptions } from '../../../src/runtime/testing'

const id = () => integer('id').primaryKey({ autoIncrement: true })
const products = sqliteTable('products', { id: id(), ...tenant(), name: text('name').notNull() })
const orders = sqliteTable('orders', { id: id(), ...tenant(), note: text('note').notNull(), margin: integer('margin') })
const lines = sqliteTable('lines', {
  id: id(),
  ...tenant(),
  orderId: integer('order_id').notNull().references(() => orders.id),
  productId: integer('product_id').references(() => products.id),
  serial: text('serial').notNull().unique(),
  internal: integer('internal', { mode: 'boolean' }).notNull().default(false),
})
const SQL = `
create table products (id integer primary key autoincrement, organization_id integer not null, name text not null);
create table orders (id integer primary key autoincrement, organization_id integer not null, note text not null, margin integer);
create table lines (id integer primary key autoincrement, organization_id integer not null, order_id integer not null references orders (id),
  product_id integer references products (id), serial text not null, internal integer not null default 0);
insert into products values (1, 1, 'rope'), (2, 2, 'anchor');
insert into orders values (1, 1, 'ours', 11), (2, 2, 'theirs', 22);
insert into lines values (1, 1, 1, 1, 'serial-1', 0), (2, 2, 2, 2, 'serial-2', 0), (3, 1, 1, 1, 'serial-3', 1);`

type Mistake = 'an update finds internal lines' | 'a delete finds internal lines' | 'products of all tenants can be referred to'
  | 'a hook looks for the serial first' | 'serials are unique among all tenants' | 'the rule of the margin is dropped'
  | 'a hook looks for the line first' | 'a header tells that there is a line'

async function open(mistake?: Mistake) {
  const has = (name: Mistake) => name === mistake
  const client = new Database(':memory:')
  client.exec(SQL)
  client.exec(`create unique index serials on lines (${has('serials are unique among all tenants') ? '' : 'organization_id, '}serial)`)
  const permissions = { read: true, create: true, update: true, delete: true } as const
  const linesAuth: ResourceAuth<typeof lines> = {
    permissions,
    listFilter: (table, { operation, permissions }) =>
      permissions.includes('internal') || (operation === 'update' && has('an update finds internal lines'))
      || (operation === 'delete' && has('a delete finds internal lines'))
        ? undefined
        : eq(table.internal, false),
    fields: has('products of all tenants can be referred to') ? { productId: { reference: 'any' } } : {},
  }
  const ordersAuth: ResourceAuth<typeof orders> = {
    permissions, fields: has('the rule of the margin is dropped') ? {} : { margin: { read: 'internal', write: 'internal' } },
  }
  /** Looks for the children in a body, before the API has decided whether the caller can see them. */
  const exists = (column: string, value: unknown = null) => client.prepare(`select 1 from lines where ${column} = ?`).get(value) !== undefined
  const looks = defineAutoApiPlugin({
    name: 'looks',
    around: async (_ctx, next, { route, request }) => {
      if (!['create', 'update'].includes(route)) return next()
      const { lines } = await request.body() as { lines?: { create?: { serial: string }[], update?: { id: unknown }[] } }
      const isLine = exists('id', lines?.update?.[0]?.id)
      if (has('a hook looks for the serial first') && exists('serial', lines?.create?.[0]?.serial))
        throw createError({ statusCode: 403, message: 'Taken.' })
      if (has('a hook looks for the line first') && isLine) throw createError({ statusCode: 403, message: 'Locked.' })
      if (has('a header tells that there is a line') && lines?.update)
        return { status: 404, body: { message: 'None.' }, ...isLine && { headers: { 'x-line': 'found' } } }
      return next()
    },
  })
  return await createTestApi({
    resources: {
      products: { schema: products, authorization: { permissions } },
      orders: { schema: orders, authorization: ordersAuth, nested: { lines: ['create', 'update', 'delete'] } },
      lines: { schema: lines, authorization: linesAuth },
    },
    database: drizzle({ client }),
    engine: 'better-sqlite3',
    plugins: [batch(), looks],
    multiTenancy: {},
    callers: {
      seller: { user: { id: 1, organizationId: 1 } },
      manager: { user: { id: 2, organizationId: 1 }, permissions: ['internal'] },
      stranger: { user: { id: 3, organizationId: 2 }, permissions: ['internal'] },
    },
  })
}

type Hidden = Omit<LeakOptions<'seller'>, 'as'>

const leaksOf = async (mistake: Mistake | undefined, hidden: Hidden) => {
  const api = await open(mistake)
  return await expectNoLeaks(api, { as: 'seller', ...hidden }).then(() => '', (error: Error) => error.message)
}

const HIDDEN: Hidden = {
  rows: { products: [2], orders: [2], lines: [2, 3] }, fields: { orders: ['margin'] }, unique: { lines: { serial: 'serial-2' } },
}

describe('expectNoLeaks', () => {
  it('finds nothing in an app without mistakes', async () => {
    expect(await leaksOf(undefined, HIDDEN)).toBe('')
  })

  it.each<[Mistake, Hidden, string[]]>([
    ['an update finds internal lines', { rows: { lines: [3] } }, [
      'PATCH /orders/1 as seller: discloses that the row 3 of lines exists: 200, but 404 NOT_FOUND without it',
      'PATCH /orders/bulk as seller: discloses that the row 3 of lines exists: 200, but 404 BULK_FAILED without it',
      'POST /batch as seller: discloses that the row 3 of lines exists: 200, but 404 BULK_FAILED without it',
    ]],
    ['a delete finds internal lines', { rows: { lines: [3] } }, [
      'PATCH /orders/1 as seller: discloses that the row 3 of lines exists: 200, but 404 NOT_FOUND without it',
      'POST /batch as seller: discloses that the row 3 of lines exists: 200, but 404 BULK_FAILED without it',
    ]],
    ['products of all tenants can be referred to', { rows: { products: [2] } }, [
      'POST /orders as seller: discloses that the row 2 of products exists: 201, but 400 INVALID_REFERENCE without it',
      'POST /orders/bulk as seller: discloses that the row 2 of products exists: 200, but 400 BULK_FAILED without it',
      'PATCH /orders/1 as seller: discloses that the row 2 of products exists: 200, but 400 INVALID_REFERENCE without it',
      'POST /batch as seller: discloses that the row 2 of products exists: 200, but 400 BULK_FAILED without it',
    ]],
    ['a hook looks for the serial first', { rows: { lines: [2] } }, [
      'POST /orders as seller: discloses that the row 2 of lines exists: 403: Taken., but a create is written',
    ]],
    ['serials are unique among all tenants', { unique: { lines: { serial: 'serial-2' } } }, [
      'POST /orders as seller: discloses that a row with {"serial":"serial-2"} exists: 409 CONFLICT',
      'PATCH /orders/1 as seller: discloses that a row with {"serial":"serial-2"} exists: 409 CONFLICT',
      'POST /batch as seller: discloses that a row with {"serial":"serial-2"} exists: 409 BULK_FAILED',
    ]],
    ['the rule of the margin is dropped', { fields: { orders: ['margin'] } }, [
      'POST /batch as seller: discloses that the field orders.margin exists: ',
    ]],
    ['a hook looks for the line first', { rows: { lines: [2] } }, [
      'PATCH /orders/1 as seller: discloses that the row 2 of lines exists: 403, but 404 NOT_FOUND without it',
    ]],
    ['a header tells that there is a line', { rows: { lines: [2] } }, [
      'PATCH /orders/1 as seller: discloses that the row 2 of lines exists: the header `x-line` differs without it',
    ]],
  ])('finds what several writes disclose: %s', async (mistake, hidden, leaks) => {
    expect(await leaksOf(undefined, hidden)).toBe('')
    const found = await leaksOf(mistake, hidden)
    for (const leak of leaks) expect(found).toContain(leak)
  })
})
