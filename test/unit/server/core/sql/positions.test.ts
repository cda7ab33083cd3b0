/**
 * The rows after a position are those that follow it in the list, with every order, both forms of the condition and both places of NULL.
 */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { bigint, pgTable, text as pgText } from 'drizzle-orm/pg-core'
import { blob, customType, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { allFields } from '../../../../../src/runtime/server/core/access/fields'
import { encrypt } from '../../../../../src/runtime/server/core/process/encryption'
import { createCursor, decryptCursor, readCursor } from '../../../../../src/runtime/server/core/sql/cursor'
import { after, type Order } from '../../../../../src/runtime/server/core/sql/keyset'
import type { Engine } from '../../../../../src/runtime/server/engines/engine'
import { createResources } from '../../../../../src/runtime/server/schema/resource'
import { DEFAULT_CONFIG } from '../../../../../src/runtime/shared/defaults'
import { createServer } from '../../../../support/server'

const items = sqliteTable('items', { id: integer('id').primaryKey(), a: integer('a').notNull(), b: integer('b'), c: text('c') })
const resource = createResources([{ name: 'items', schema: items }], [{ items }], DEFAULT_CONFIG).get('items')!

type Item = Record<'id' | 'a', number> & { readonly b: number | null, readonly c: string | null }
const ITEMS: readonly Item[] = [1, 2].flatMap(a => [null, 1, 2].flatMap(b => [null, 'x', 'y'].map(c => ({ a, b, c }))))
  .map((item, index) => ({ id: (index * 7) % 19 + 1, ...item }))

const client = new Database(':memory:')
client.exec('create table items (id integer primary key, a integer not null, b integer, c text)')
for (const { id, a, b, c } of ITEMS) client.prepare('insert into items values (?, ?, ?, ?)').run(id, a, b, c)
const db = drizzle({ client })

const ORDERS = [
  'id',
  '-id',
  'a,id',
  '-a,-id',
  'a,-id',
  '-a,id',
  'b,id',
  '-b,id',
  'b,-c,id',
  '-b,c,-id',
  'c,-a,b,id',
  'a,b,id',
  '-a,-b,-id',
  'b',
  '-b',
  'a',
  'a,a',
]

const toOrder = (sort: string): Order[] => sort.split(',').map((part) => {
  const field = allFields(resource).byName.get(part.replace('-', ''))!
  return { field, descending: part.startsWith('-') }
})

function compareItems(order: readonly Order[], nullsLow: boolean) {
  return (left: Item, right: Item): number => {
    for (const { field, descending } of order) {
      const [one, two] = [left, right].map(item => item[field.name as keyof Item])
      if (one === two) continue
      const less = one === null ? nullsLow : two === null ? !nullsLow : one! < two!
      return less === descending ? 1 : -1
    }
    return 0
  }
}

describe.each([
  [true, true],
  [true, false],
  [false, true],
  [false, false],
])('after a position, NULL first: %s, tuples: %s', (nullsLow, tupleComparison) => {
  const engine = { adapter: { nullsLow, tupleComparison } } as Engine

  it.each(ORDERS)('of the order %s', (sort) => {
    const order = toOrder(sort)
    const compare = compareItems(order, nullsLow)
    for (const position of ITEMS) {
      const values = order.map(({ field }) => position[field.name as keyof Item])
      const found = db
        .select({ id: items.id })
        .from(items)
        .where(after(engine, order, values).getSQL())
        .all()
        .map(({ id }) => id)
      expect(found.toSorted()).toEqual(
        ITEMS.filter(item => compare(item, position) > 0)
          .map(({ id }) => id)
          .toSorted(),
      )
    }
  })
})

it.each(ORDERS.filter(sort => sort.endsWith('id')))('pages by cursor show every row once, in the order %s', async (sort) => {
  const { request } = await createServer({
    registrations: [{ name: 'items', schema: items, authorization: { permissions: { read: true } } }],
    db,
  })
  for (const limit of [1, 4]) {
    const ids: number[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: { body: { data: Item[], meta: { nextCursor: string | null } } } = await request(
        'GET',
        `/api/items?sort=${sort}&limit=${limit}&cursor=${cursor}`,
      )
      ids.push(...body.data.map(({ id }) => id))
      cursor = body.meta.nextCursor
    }
    expect(ids).toEqual(ITEMS.toSorted(compareItems(toOrder(sort), true)).map(({ id }) => id))
  }
})

const hexadecimal = customType<{ data: string, driverData: Uint8Array }>({
  dataType: () => 'blob', toDriver: value => Buffer.from(value, 'hex'), fromDriver: value => Buffer.from(value).toString('hex'),
})

it.each([
  ['a custom type', hexadecimal('id')],
  ['a blob', blob('id', { mode: 'buffer' })],
])('pages by cursor show every row once, by a key of %s', async (_type, id) => {
  const client = new Database(':memory:')
  client.exec('create table marks (id blob primary key); insert into marks values (x\'01ff\'), (x\'02\'), (x\'0300\'), (x\'2a\')')
  const marks = sqliteTable('marks', { id: id.primaryKey() })
  const registrations = [{ name: 'marks', schema: marks, authorization: { permissions: { read: true } } }]
  const { request } = await createServer({ registrations, db: drizzle({ client }) })
  const ids: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null && ids.length < 9;) {
    const { body }: { body: { data: { id: unknown }[], meta: { nextCursor: string | null } } } = await request(
      'GET',
      `/api/marks?limit=1&cursor=${cursor}`,
    )
    ids.push(...body.data.map(row => row.id))
    cursor = body.meta.nextCursor
  }
  expect([ids.length, new Set(ids).size]).toEqual([4, 4])
})

describe('a cursor', () => {
  const byId = toOrder('id')
  const refused = expect.objectContaining({ data: { code: 'INVALID_CURSOR', parameter: 'cursor' } })
  const forged = async (payload: string) =>
    decryptCursor(['secret'], await encrypt(['secret'], 'cursor', payload), resource, byId).catch((error: unknown) => error)

  it('is for one order', () => {
    const cursor = createCursor(resource, byId, [5])
    expect(readCursor(cursor, resource, byId)).toEqual([5])
    for (const other of ['-id', 'a', 'a,id']) expect(() => readCursor(cursor, resource, toOrder(other))).toThrow(refused)
  })

  it.each(['=', '!', '\n', '*n5', '*', ' '])('is one text: with %j added, it is refused', (more) => {
    expect(() => readCursor(createCursor(resource, byId, [5]) + more, resource, byId)).toThrow(refused)
  })

  it('that was encrypted with the secret is read', async () => {
    expect(await forged('2 items id\0n5')).toEqual([5])
  })

  it.each([
    ['another version', '1 items id\0n5'],
    ['another resource', '2 users id\0n5'],
    ['another order', '2 items -id\0n5'],
    ['too many values', '2 items id\0n5*n6'],
    ['no value', '2 items id\0'],
    ['a value of another type', '2 items id\0seA'],
    ['no number', '2 items id\0nx'],
    ['a fraction', '2 items id\0n1.5'],
    ['no bigint', '2 items id\0bx'],
    ['a bigint that is too large', `2 items id\0b${'9'.repeat(50)}`],
    ['no type', '2 items id\u00005'],
    ['an unknown type', '2 items id\0oAA'],
    ['bytes', '2 items id\0xAA'],
    ['a cursor of version 1', '[1,"items","id",[5]]'],
    ['nothing', ''],
  ])('with %s is refused', async (_what, payload) => {
    expect(await forged(payload)).toEqual(refused)
  })

  it('of another secret, or not encrypted, is refused', async () => {
    const cursor = await encrypt(['other'], 'cursor', '2 items id\0n5')
    for (const sent of [cursor, 'x', createCursor(resource, byId, [5])])
      await expect(decryptCursor(['secret'], sent, resource, byId)).rejects.toEqual(refused)
  })

  it('keeps every digit of a bigint, and NULL', () => {
    const counters = pgTable('counters', { id: bigint('id', { mode: 'bigint' }).primaryKey(), name: pgText('name') })
    const resource = createResources([{ name: 'counters', schema: counters }], [{ counters }], DEFAULT_CONFIG).get('counters')!
    const order = allFields(resource).fields.map(field => ({ field, descending: false }))
    for (const values of [[9007199254740993n, 'x'], [9007199254740993n, null]])
      expect(readCursor(createCursor(resource, order, values), resource, order)).toEqual(values)
  })
})
