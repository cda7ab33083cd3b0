/** Views as resources on every engine: values, filters, orders, pages, aggregates, relations and row filters, as for a table. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ResourceRegistration } from '../../src/runtime/server/registration'
import { createServer, type TestServer } from '../support/server'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'
import { SHELVES, shelfSql } from './support/shelf'
import { get } from './support/walk'

const READ = { permissions: { read: true } } as const

const TIMES = {
  sqlite: ['1700000000000', '1700100000000'],
  pg: ['\'2023-11-14T22:13:20Z\'', '\'2023-11-16T02:00:00Z\''],
  mysql: ['\'2023-11-14 22:13:20\'', '\'2023-11-16 02:00:00\''],
} as const

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  const { dialect, engine, open } = engineCase
  const { authors, books, views, refresh = '' } = SHELVES[dialect]

  describe.skipIf(!isAvailable(engineCase)).each(Object.keys(views))('a view: %s', (kind) => {
    let opened: Opened
    let server: TestServer
    beforeAll(async () => {
      opened = await open()
      await opened.exec(shelfSql(dialect))
      const [first, second] = TIMES[dialect]
      await opened.exec(`insert into authors values (1, 'Ada'), (2, 'Bea'), (3, 'Cleo');
        insert into books values (1, 1, 100, 1.25, ${first}), (2, 1, 50, 2.5, ${second}), (3, 2, 70, 3, ${first}); ${refresh}`)
      const ALL = { permissions: { read: true, create: true } } as const
      server = await createServer({
        db: opened.db,
        engine,
        modules: [{ authors, books }],
        registrations: [
          { name: 'authors', schema: authors, authorization: ALL },
          { name: 'books', schema: books, authorization: ALL },
          { name: 'shelf', schema: views[kind]!, key: 'authorId', references: { authorId: 'authors' }, authorization: READ },
          {
            name: 'full', schema: views[kind]!, key: 'authorId',
            authorization: { permissions: { read: true }, listFilter: table => sql`${(table as unknown as { books: never }).books} > 0` },
          },
        ] satisfies ResourceRegistration[],
      })
    })
    afterAll(() => opened?.close())

    const read = async (path: string, query: Record<string, unknown> = {}) => {
      const { status, body } = await get(server, path, query)
      expect(status, JSON.stringify(body)).toBe(200)
      return body
    }
    const names = async (query: Record<string, unknown>, path = 'shelf') =>
      (await read(path, query)).data.map(({ name }: { name: string }) => name)

    it('has the values of its columns and of its expressions', async () => {
      const { data } = await read('shelf', { sort: 'authorId' })
      // The databases write another number of zeros.
      expect(data.map((row: { worth: string | null }) => ({ ...row, worth: row.worth && Number(row.worth) }))).toEqual([
        { authorId: 1, name: 'Ada', books: 2, pages: 150, worth: 3.75, latest: '2023-11-16T02:00:00.000Z', busy: true },
        { authorId: 2, name: 'Bea', books: 1, pages: 70, worth: 3, latest: '2023-11-14T22:13:20.000Z', busy: false },
        { authorId: 3, name: 'Cleo', books: 0, pages: null, worth: null, latest: null, busy: false },
      ])
      expect(await read('shelf/2', { fields: 'name,books' })).toEqual({ name: 'Bea', books: 1 })
      expect((await get(server, 'shelf/4')).status).toBe(404)
    })

    it.each<[Record<string, unknown>, readonly string[]]>([
      [{ books: 2 }, ['Ada']],
      [{ books: { $gt: 0 } }, ['Ada', 'Bea']],
      [{ books: { $in: [0, 1] } }, ['Bea', 'Cleo']],
      [{ pages: 70 }, ['Bea']],
      [{ pages: null }, ['Cleo']],
      [{ worth: '3.75' }, ['Ada']],
      [{ worth: { $in: ['3', 3.75] } }, ['Ada', 'Bea']],
      [{ worth: { $gt: '3.0' } }, ['Ada']],
      [{ busy: true }, ['Ada']],
      [{ latest: { $gte: '2023-11-15T00:00:00Z' } }, ['Ada']],
      [{ name: { $like: 'b%' } }, ['Bea']],
      [{ author: { name: 'Cleo' } }, ['Cleo']],
    ])('is filtered by %j', async (filter, found) => {
      expect(await names({ filter, sort: 'name' })).toEqual(found)
    })

    it.each(['books,-name', '-pages', 'latest', 'worth,name', '-busy,name'])('has each row once in pages, sorted by %s', async (sort) => {
      const seen: string[] = []
      for (let cursor: string | null = ''; cursor !== null;) {
        const { data, meta } = await read('shelf', { limit: 1, sort, cursor })
        seen.push(...data.map(({ name }: { name: string }) => name))
        cursor = meta.nextCursor
      }
      expect([seen, seen.toSorted()]).toEqual([await names({ sort }), ['Ada', 'Bea', 'Cleo']])
    })

    it('is aggregated and grouped', async () => {
      const { data } = await read('shelf/aggregate', { aggregate: 'count,sum(books),max(latest)', groupBy: 'busy', sort: 'busy' })
      expect(data).toEqual([
        { group: { busy: false }, count: 2, sum_books: 1, max_latest: '2023-11-14T22:13:20.000Z' },
        { group: { busy: true }, count: 1, sum_books: 2, max_latest: '2023-11-16T02:00:00.000Z' },
      ])
    })

    it('is included, filters its other side, and includes it', async () => {
      const { data } = await read('authors', { sort: 'id', include: 'shelf[books]' })
      expect(data.map(({ shelf }: { shelf: { books: number } }) => shelf.books)).toEqual([2, 1, 0])
      expect(await names({ filter: { shelf: { books: { $gt: 1 } } } }, 'authors')).toEqual(['Ada'])
      expect((await read('shelf/2', { fields: 'books', include: 'author[name]' }))).toMatchObject({ author: { name: 'Bea' } })
    })

    it('has the row filter of its own resource', async () => {
      expect(await names({ sort: 'name' }, 'full')).toEqual(['Ada', 'Bea'])
      expect((await read('full')).meta.total).toBe(2)
      expect((await get(server, 'full/3')).status).toBe(404)
    })

    it('refuses writes and values that its columns cannot hold', async () => {
      for (const [method, path] of [['POST', 'shelf'], ['PATCH', 'shelf/1'], ['DELETE', 'shelf/1'], ['POST', 'shelf/bulk']] as const)
        expect((await server.request(method, `/api/${path}`, { body: {} })).status).toBe(405)
      for (const filter of [{ books: 'x' }, { latest: 'soon' }, { pages: [1, 'x'] }])
        expect((await get(server, 'shelf', { filter })).status).toBe(400)
      for (const value of [1.5, 9e99]) expect([200, 400]).toContain((await get(server, 'shelf', { filter: { books: value } })).status)
    })

    it('shows what changes in its tables, a materialized one after its refresh', async () => {
      const { status } = await server.request('POST', '/api/books', { body: { id: 4, authorId: 3, pages: 9 } })
      expect(status).toBe(201)
      if (kind === 'materialized') {
        expect(await read('shelf/3')).toMatchObject({ books: 0 })
        await opened.exec(refresh)
      }
      expect(await read('shelf/3')).toMatchObject({ books: 1, pages: 9 })
    })
  })
})
