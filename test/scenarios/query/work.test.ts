/** How much work one query can cause: counted over its filter and its includes, and never more than a few searches at a time. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { longestBlock } from '../../support/longest-block'
import { createServer, type TestServer } from '../../support/server'
import { isFull } from '../../support/tiers'

const pages = sqliteTable('pages', {
  id: integer('id').primaryKey(),
  body: text('body').notNull(),
  kind: text('kind'),
  parentId: integer('parent_id'),
})
const notes = sqliteTable('notes', {
  id: integer('id').primaryKey(),
  pageId: integer('page_id').references(() => pages.id),
  body: text('body'),
})
const DDL = `
  create table pages (id integer primary key, body text not null, kind text, parent_id integer);
  create table notes (id integer primary key, page_id integer, body text);
`
const client = new Database(':memory:')
let server: TestServer

/** 10 000 rows of 1 kB, ten of 1 MB, of one letter: what the naive search is slowest for. */
beforeAll(async () => {
  client.exec(DDL)
  const insert = client.prepare('insert into pages (body, kind) values (?, ?)')
  client.transaction(() => {
    for (let index = 0; index < 10_000; index++) insert.run('a'.repeat(1_000), 'small')
    for (let index = 0; index < 10; index++) insert.run(`${'a'.repeat(1_000_000)}${'b'.repeat(index)}`, 'large')
  })()
  client.exec('insert into notes values (1, 1, \'note\')')
  server = await createServer({
    registrations: [
      { name: 'pages', schema: pages, authorization: { permissions: { read: true } } },
      { name: 'notes', schema: notes, authorization: { permissions: { read: true } } },
    ],
    modules: [{ pages, notes }],
    db: drizzle({ client }),
  })
})
afterAll(() => void client.close())

const get = (path: string, query: Record<string, unknown>) =>
  server.request(
    'GET',
    `/api/${path}?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]))}`,
  )
const codeOf = async (path: string, query: Record<string, unknown>) => {
  const { status, body } = await get(path, { limit: 1, ...query })
  return status === 200 ? 200 : body.data.code
}
const list = <T>(length: number, item: (index: number) => T) => Array.from({ length }, (_, index) => item(index))
const likes = (patterns: readonly string[]) => ({ $or: patterns.map($like => ({ body: { $like } })) })
const SMALL = { kind: 'small', id: { $lt: 5 } }

/** What is answered, and one more, which is not. */
const BOUNDS: [rule: string, path: string, query: (more: 0 | 1) => Record<string, unknown>][] = [
  ['8 $like', 'notes', more => ({ filter: likes(list(8 + more, String)) })],
  [
    '8 $like, those of an include among them',
    'pages',
    more => ({ filter: { ...SMALL, ...likes(list(4, String)) }, include: { notes: { filter: likes(list(4 + more, String)) } } }),
  ],
  [
    '8 $like, those of related rows among them',
    'notes',
    more => ({
      filter: {
        $or: [
          ...list(6, index => ({ body: { $like: String(index) } })),
          { page: { ...SMALL, body: { $like: 'x' } } },
          { page: { ...SMALL, body: { $like: 'y' } } },
          ...(more ? [{ body: { $like: '9' } }] : []),
        ],
      },
    }),
  ],
  [
    '100 conditions, those of related rows among them',
    'pages',
    more => ({
      filter: {
        ...SMALL,
        $or: [
          ...list(19, () => ({ id: { $gt: 0, $lt: 5, $ne: 7, $gte: 1 } })),
          {
            notes: {
              id: { $gt: 0, $lt: 9, $ne: 7, $gte: 0, $lte: 9 },
              body: { $ne: 'x' },
              pageId: { $gt: 0, $gte: 0, $lt: 9, $lte: 9, $ne: 7, $in: [1], $nin: [2], $null: false, ...(more && { $eq: 1 }) },
              ...{
                page: {
                  ...SMALL,
                  kind: { $null: false, $in: ['small'], $nin: ['x'], $ne: 'y', $eq: 'small' },
                  body: { $ne: 'z', $null: false },
                },
              },
            },
          },
        ],
      },
    }),
  ],
  ['8 $like of an aggregate', 'notes/aggregate', more => ({ filter: likes(list(8 + more, String)) })],
  ['256 characters of one $like', 'notes', more => ({ filter: { body: { $like: 'x'.repeat(256 + more) } } })],
  [
    '256 characters of one $like in an include of one record',
    'pages/1',
    more => ({ include: { notes: { filter: { body: { $like: 'x'.repeat(256 + more) } } } } }),
  ],
  [
    '512 characters of all $like together',
    'notes',
    more => ({ filter: likes(list(4, index => 'x'.repeat(128 + (index === 3 ? more : 0)))) }),
  ],
  ['16 wildcards of one $like', 'notes', more => ({ filter: { body: { $like: `${'_%'.repeat(8)}${'_'.repeat(more)}` } } })],
  ['16 wildcards beside escaped ones', 'notes', more => ({ filter: { body: { $like: `\\%\\_${'%x'.repeat(16 + more)}` } } })],
  [
    '100 conditions, those of includes among them',
    'pages',
    more => ({
      filter: { $or: list(19, () => ({ id: { $gt: 0, $lt: 5, $ne: 7, $gte: 1 } })) },
      include: {
        notes: {
          filter: { $or: list(6, index => ({ id: { $gt: 0, $lt: 9, $ne: 7, $gte: 0, ...(index === 5 && more && { $lte: 9 }) } })) },
        },
      },
    }),
  ],
  [
    '100 conditions, those of having among them',
    'notes/aggregate',
    more => ({
      filter: { $or: list(19, () => ({ id: { $gt: 0, $lt: 5, $ne: 7, $gte: 1, $lte: 9 } })) },
      having: { count: { $gt: -1, $gte: -1, $lt: 9, $lte: 9, $ne: 5 }, count_id: more ? 1 : undefined },
      aggregate: 'count,count(id)',
    }),
  ],
]

describe('a query', () => {
  it.each(BOUNDS)('is accepted with %s, and returns 400 with one more', async (_rule, path, query) => {
    expect([await codeOf(path, query(0)), await codeOf(path, query(1))]).toEqual([200, 'LIMIT_EXCEEDED'])
  })
})

describe('count=estimated', () => {
  const meta = async (query: Record<string, unknown>) =>
    (await get('pages', { count: 'estimated', fields: 'id', limit: 5, ...query })).body.meta

  it('is exact up to 10 000 rows, and a lower bound above', async () => {
    const page = { page: 1, limit: 5, hasMore: true }
    expect(await meta({ filter: { id: { $lte: 7 } } })).toEqual({ ...page, total: 7 })
    expect(await meta({ filter: { id: { $lte: 10_000 } } })).toEqual({ ...page, total: 10_000 })
    expect(await meta({ filter: { id: { $lte: 10_001 } } })).toEqual({ ...page, total: 10_000, totalIsMore: true })
    expect(await meta({})).toEqual({ ...page, total: 10_000, totalIsMore: true })
    expect(await meta({ page: 2002 })).toEqual({ page: 2002, limit: 5, total: 10_000, totalIsMore: true, hasMore: false })
    expect(await meta({ filter: { id: 0 } })).toEqual({ ...page, total: 0, hasMore: false })
  })

  it('has no total in pages by cursor', async () => {
    expect(await meta({ cursor: '' })).toEqual({ limit: 5, hasMore: true, nextCursor: expect.any(String) })
  })
})

const blockOf = (query: Record<string, unknown>) =>
  longestBlock(async () => expect((await get('pages', { limit: 1, fields: 'id', ...query })).status).toBe(200))

/** The most that the limits allow, in each of its forms; all of them with `FULL=1`. */
const SEARCHES: [what: string, query: Record<string, unknown>][] = (
  [
    ['8 patterns of 64 characters', { filter: likes(list(8, index => `${'a'.repeat(62)}${index}c`)) }],
    ['2 patterns of 256 characters', { filter: likes(list(2, index => `${'a'.repeat(254)}${index}c`)) }],
    ['8 patterns of 16 wildcards between single letters', { filter: likes(list(8, index => `${'a%'.repeat(15)}${index}`)) }],
    ['8 patterns of 16 wildcards between parts', { filter: likes(list(8, index => `${'%aaa'.repeat(15)}${index}`)) }],
    ['8 patterns of single characters', { filter: likes(list(8, index => `${'_a'.repeat(16)}${index}c`)) }],
    ['one pattern of 240 letters and 16 single characters', { filter: likes([`${`${'a'.repeat(15)}_`.repeat(15)}c`]) }],
    ['8 patterns, by cursor', { filter: likes(list(8, index => `${'a'.repeat(62)}${index}c`)), cursor: '' }],
    ['8 patterns, with aggregates', { filter: likes(list(8, index => `${'a'.repeat(62)}${index}c`)), aggregate: 'count,max(id)' }],
    ['8 patterns, in groups', { filter: likes(list(8, index => `${'a'.repeat(62)}${index}c`)), groupBy: 'kind' }],
    [
      '8 patterns in the rows of one relation',
      {
        filter: {
          notes: {
            page: Object.fromEntries([
              ['id', { $gt: 0 }],
              ['body', { $like: `${'a'.repeat(62)}c` }],
            ]),
          },
          $or: list(7, index => ({ notes: { page: { body: { $like: `${'a'.repeat(62)}${index}c` } } } })),
        },
      },
    ],
    [
      '8 patterns beside and inside of relations',
      { filter: { ...likes(list(4, index => `${'a'.repeat(62)}${index}c`)), notes: { page: { body: { $like: `${'a'.repeat(62)}c` } } } } },
    ],
    ['20 relations to a large table', { filter: { $or: list(10, index => ({ notes: { page: { kind: `x${index}` } } })) } }],
  ] satisfies [string, Record<string, unknown>][]
).filter((_, index) => isFull || index % 3 === 0)

describe('a search through large texts', () => {
  it.each(SEARCHES)('yields to other requests after at most five times the duration of one $like: %s', async (_what, query) => {
    const one = await blockOf({ filter: likes(['zz']), count: 'none' })
    const most = await blockOf(query)
    expect(most / one).toBeLessThanOrEqual(5)
  })

  it('finds the same related rows in slices as in one statement', async () => {
    const ids = async (filter: object) => (await get('notes', { filter, fields: 'id' })).body.data
    const many = (more: object[]) => ({
      $or: [...more, ...['x', 'y', 'z'].map(letter => ({ page: { body: { $like: letter.repeat(30) } } }))],
    })
    expect(await ids(many([{ page: { body: { $like: 'aaa' } } }]))).toEqual([{ id: 1 }])
    expect(await ids(many([{ page: { body: { $like: 'aab' } } }]))).toEqual([])
    expect(await ids({ ...many([{ body: { $like: 'not' } }]), page: { body: { $like: 'aaa' } } })).toEqual([{ id: 1 }])
    expect(await ids({ ...many([{ body: { $like: 'not' } }]), page: { body: { $like: 'aab' } } })).toEqual([])
  })

  it('finds the same rows in slices as in one statement', async () => {
    const patterns = ['bbb', 'abbbb', '%bbbbb', `${'a'.repeat(60)}bbbbbb%`]
    const sliced = (await get('pages', { filter: likes(patterns), sort: '-id', limit: 3, page: 2, fields: 'id', aggregate: 'count' })).body
    expect(sliced).toEqual({
      data: [10_007, 10_006, 10_005].map(id => ({ id })),
      meta: { page: 2, limit: 3, total: 7, aggregates: { count: 7 } },
    })
    expect((await get('pages', { filter: likes(patterns), groupBy: 'kind' })).body.data).toEqual([{ group: { kind: 'large' }, count: 7 }])
  })
})
