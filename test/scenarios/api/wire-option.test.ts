/** The option `wire` of a registration gives the values of a custom type a form in JSON. Without one, the server does not start. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { blob, customType, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { createServer } from '../../support/server'
import { articles, articlesWire } from './examples/wire'

class Money {
  readonly #cents: number
  constructor(cents: number) {
    this.#cents = cents
  }

  get cents() {
    return this.#cents
  }
}

const tagSet = customType<{ data: Set<string>, driverData: string }>({
  dataType: () => 'text',
  toDriver: tags => [...tags].join(),
  fromDriver: tags => new Set(tags.split(',')),
})
const vector = customType<{ data: Float32Array, driverData: Uint8Array }>({
  dataType: () => 'blob',
  toDriver: values => Buffer.from(values.buffer),
  fromDriver: bytes => new Float32Array(new Uint8Array(bytes).slice(0, bytes.length & ~3).buffer),
})
const money = customType<{ data: Money, driverData: number }>({
  dataType: () => 'integer',
  toDriver: ({ cents }) => cents,
  fromDriver: cents => new Money(cents),
})
const written = customType<{ data: object, driverData: string }>({ dataType: () => 'text', toDriver: value => JSON.stringify(value) })
const mixed = customType<{ data: string | Date, driverData: string }>({
  dataType: () => 'text',
  toDriver: String,
  fromDriver: value => (/^\d{4}-/.test(value) ? new Date(value) : value),
})
const nested = customType<{ data: { at: Date }, driverData: string }>({
  dataType: () => 'text',
  toDriver: ({ at }) => at.toISOString(),
  fromDriver: value => ({ at: new Date(value) }),
})
const url = customType<{ data: URL, driverData: string }>({ dataType: () => 'text', toDriver: String, fromDriver: value => new URL(value) })

const TYPES = {
  tags: tagSet('value'),
  vector: vector('value'),
  money: money('value'),
  written: written('value'),
  mixed: mixed('value'),
  nested: nested('value'),
}
const permissions = { read: true, create: true, update: true } as const

let client: Database.Database
beforeEach(() => {
  client = new Database(':memory:')
  client.exec('create table items (id integer primary key, value)')
})
afterEach(() => client.close())

const start = (column: unknown, options: Partial<ResourceRegistration> = {}) => {
  const schema = sqliteTable('items', { id: integer('id').primaryKey(), value: column as ReturnType<typeof text> })
  return createServer({ db: drizzle({ client }), registrations: [{ name: 'items', schema, authorization: { permissions }, ...options }] })
}

describe('a custom type whose values JSON cannot represent', () => {
  it.each(Object.entries(TYPES))('stops the start with the name of the column and of the option: %s', async (_name, column) => {
    await expect(start(column)).rejects.toThrow(
      /`items\.value` \(.+\)\. Define it with the option `wire` of the registration: `wire: \{ value: \{ encode: value => json, decode: json => value \} \}`/,
    )
  })

  it('is no obstacle if no response contains the column', async () => {
    await expect(start(TYPES.tags, { hiddenFields: ['value'] })).resolves.toBeDefined()
  })

  it('is listed with all others of the API', async () => {
    const schema = sqliteTable('items', {
      id: integer('id').primaryKey(),
      tags: tagSet('tags'),
      price: money('price'),
      plain: text('plain'),
      bytes: blob('bytes', { mode: 'buffer' }),
    })
    const started = createServer({ db: drizzle({ client }), registrations: [{ name: 'items', schema }, { name: 'others', schema }] })
    await expect(started).rejects.toThrow('`items.tags` (Set), `items.price` (Money), `others.tags` (Set), `others.price` (Money)')
  })

  it('needs no option if `toDriver` accepts the JSON of the value', async () => {
    const { request } = await start(url('value'))
    const created = await request('POST', '/api/items', { body: { value: 'https://example.com/a' } })
    expect([created.status, created.body.value]).toEqual([201, 'https://example.com/a'])
  })
})

describe('the option `wire`', () => {
  const wire = { value: articlesWire.tags } as ResourceRegistration['wire']

  it('converts values in both directions, in filters too', async () => {
    const { request } = await start(TYPES.tags, { wire })
    const created = await request('POST', '/api/items', { body: { value: ['a', 'b'] } })
    expect([created.status, created.body.value, client.prepare('select value from items').pluck().get()]).toEqual([201, ['a', 'b'], 'a,b'])
    expect((await request('PATCH', '/api/items/1', { body: { value: created.body.value } })).body.value).toEqual(['a', 'b'])
    for (const query of [
      `filter=${encodeURIComponent(JSON.stringify({ value: { $eq: ['a', 'b'] } }))}`,
      `filter[value]=${encodeURIComponent('["a","b"]')}`,
    ])
      expect((await request('GET', `/api/items?${query}`)).body.data).toHaveLength(1)
  })

  it('can be written in a file of its own', async () => {
    client.exec('create table articles (id integer primary key, tags text)')
    const { request } = await createServer({
      db: drizzle({ client }),
      registrations: [
        { name: 'articles', schema: articles, wire: articlesWire as ResourceRegistration['wire'], authorization: { permissions } },
      ],
    })
    expect((await request('POST', '/api/articles', { body: { tags: ['a', 'b'] } })).body).toEqual({ id: 1, tags: ['a', 'b'] })
  })

  it('returns 400 for JSON that `decode` refuses', async () => {
    const { request } = await start(TYPES.tags, { wire })
    expect([
      (await request('POST', '/api/items', { body: { value: 'a' } })).status,
      (await request('GET', '/api/items?filter[value]=a')).status,
    ]).toEqual([400, 400])
  })

  it('has to name a column, and both functions', async () => {
    await expect(start(TYPES.tags, { wire: { valeu: wire!.value } as never })).rejects.toThrow('`items.wire` names `valeu`')
    await expect(start(TYPES.tags, { wire: { value: { encode: String } } as never })).rejects.toThrow(
      '`items.wire.value.decode` is not a function.',
    )
  })
})
