/** Numbers beyond what a double holds keep every digit on their way through; where the database cannot order them, nobody asks it to. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { blob, integer, numeric, sqliteTable } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type TestServer } from '../../support/server'

const sums = sqliteTable('sums', {
  id: integer('id').primaryKey(),
  amount: numeric('amount'),
  serial: numeric('serial', { mode: 'bigint' }),
  whole: integer('whole'),
  bytes: blob('bytes', { mode: 'bigint' }),
})

const ROWS = [
  { id: 1, amount: '9007199254740993', serial: 9223372036854775807n, whole: 9007199254740991, bytes: 5n },
  { id: 2, amount: '9007199254740992', serial: 9223372036854775806n, whole: 9007199254740991, bytes: 10n },
  { id: 3, amount: '0.1', serial: -9223372036854775808n, whole: 2, bytes: null },
]

let server: TestServer
let client: Database.Database

beforeAll(async () => {
  client = new Database(':memory:')
  client.exec('create table sums (id integer primary key, amount numeric, serial numeric, whole integer, bytes blob)')
  const db = drizzle({ client })
  db.insert(sums).values(ROWS).run()
  server = await createServer({ db, registrations: [{ name: 'sums', schema: sums, authorization: { permissions: { read: true } } }] })
})

afterAll(() => client.close())

const get = async (path: string) => (await server.request('GET', encodeURI(`/api/sums${path}`))).body

describe('a large number', () => {
  it('is returned with every digit', async () => {
    const { data } = await get('?fields=amount,serial')
    expect(data).toEqual(ROWS.map(({ amount, serial }) => ({ amount, serial: String(serial) })))
  })

  it.each([['amount', '9007199254740993'], ['serial', '9223372036854775806']])('is found by its digits in %s', async (field, value) => {
    const { data } = await get(`?fields=${field}&filter={"${field}":"${value}"}`)
    expect(data).toEqual([{ [field]: value }])
  })

  it.each([
    ['amount', [3, 2, 1]],
    ['-amount', [1, 2, 3]],
    ['serial', [3, 2, 1]],
    ['-serial', [1, 2, 3]],
  ])('is a valid cursor position in a list sorted by %s', async (sort, ids) => {
    const seen: number[] = []
    let cursor: string | null = ''
    while (cursor !== null && seen.length < 5) {
      const page: { data: { id: number }[], meta: { nextCursor: string | null } } = await get(`?sort=${sort}&limit=1&cursor=${cursor}`)
      seen.push(...page.data.map(({ id }) => id))
      cursor = page.meta.nextCursor
    }
    expect(seen).toEqual(ids)
  })

  it('is summed and compared with sums exactly', async () => {
    const { data } = await get('/aggregate?aggregate=sum(amount),max(amount),sum(serial),min(serial),sum(whole)')
    expect(data).toEqual([
      {
        sum_amount: '18014398509481985.1',
        max_amount: '9007199254740993',
        sum_serial: '9223372036854775805',
        min_serial: '-9223372036854775808',
        sum_whole: 18014398509481984,
      },
    ])
    const above = (value: string) => get(`/aggregate?aggregate=max(amount)&having={"max_amount":{"$gt":"${value}"}}`)
    expect([(await above('9007199254740992')).meta.total, (await above('9007199254740993')).meta.total]).toEqual([1, 0])
  })
})

describe('a number that SQLite stores as bytes', () => {
  it.each([
    ['?filter={"bytes":"5"}', [1]],
    ['?filter={"bytes":{"$ne":"5"}}', [2]],
    ['?filter={"bytes":null}', [3]],
  ])('is compared for equality: %s', async (query, ids) => {
    expect((await get(query)).data.map(({ id }: { id: number }) => id)).toEqual(ids)
  })

  it.each([
    '?sort=bytes',
    '?filter={"bytes":{"$gt":"6"}}',
    '?filter={"bytes":["5"]}',
    '/aggregate?aggregate=max(bytes)',
    '/aggregate?aggregate=sum(bytes)',
    '/aggregate?groupBy=bytes',
  ])('is not compared: %s', async (query) => {
    expect((await get(query)).statusCode).toBe(400)
  })
})
