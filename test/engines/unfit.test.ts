/** On every engine a value that does not fit its column returns 400 in bodies, filters, having and cursors, and 404 as an id in a path. */
import { getTableColumns, sql } from 'drizzle-orm'
import { integer as pgInteger, pgTable, text as pgText } from 'drizzle-orm/pg-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { kindOf } from '../../src/runtime/server/drizzle/index'
import { createServer, type TestServer } from '../support/server'
import { tableText, WORLDS } from './fuzz/tables'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'

const CALLER = { user: { id: 1 }, permissions: ['write'] }

/** Values that a type does not have, by column of the tables of the random requests. */
const UNFIT: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  pg: {
    day: ['abc', '2024-02-30', '0000-01-01', 'yesterday'], date: ['0000-01-01', '9999-12-31T23:59-14:00'], timestamp: ['0000-01-01',
      '9999-12-31T23:59-14:00'], timestampText: ['abc', '2024-01-01T25:00'], time: ['abc', '25:00'], interval: ['abc', '1 fortnight'],
    inet: ['abc', '10.0.0.256'], cidr: ['abc', '::1/129'], macaddr: ['abc', '08:00:2b:01:02'], uuid: ['abc'], real: [1e300, 1e-60],
    smallint: [40_000], numeric: ['123456789'], varchar: ['\uD800'], text: ['a\0'], bareText: [{ a: 1 }, ['a']], barePoint: [{ x: 1 }],
  },
  mysql: {
    day: ['abc', '2024-02-30', '0000-01-01'], date: ['0000-01-01', '9999-12-31T23:59-14:00'], datetime: ['9999-12-31T23:59-14:00'],
    datetimeText: ['abc'], timestampText: ['abc'], time: ['abc'], float: [1e300], decimal: ['12345678901'], unsigned: [-1], year: [1],
    varchar: ['\uD800'],
    bareText: [{ a: 1 }, ['a']],
  },
  sqlite: { date: ['0000-01-01', '9999-12-31T23:59-14:00'], seconds: ['9999-12-31T23:59-14:00'], integer: [2 ** 53], text: ['\uD800',
    'a\0'], bareText: [{ a: 1 }, ['a']], bareInteger: [2 ** 60, {}] },
}

/** Columns that cannot be filtered by value at all. */
const UNFILTERED = new Set(['barePoint'])

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a value that does not fit its column', () => {
    const { dialect, engine, open } = engineCase
    const { things, parts, labels, pairs, thingLabels, before } = WORLDS[dialect]()
    let opened: Opened
    let server: TestServer
    let forge: (sort: string, value: unknown) => Promise<string>

    beforeAll(async () => {
      opened = await open()
      for (const text of [before, ...[things, parts, labels, pairs, thingLabels].map(table => tableText(dialect,
        table))]) if (text) await opened.exec(text)
      const permissions = { read: true as const, create: 'write', update: 'write', delete: 'write' }
      server = await createServer({
        db: opened.db, engine, modules: [{ things, parts, labels, pairs, thingLabels }],
        registrations: [
          ...Object.entries({ things, parts, pairs, labels }).map(([name, schema]) => ({ name, schema, authorization: { permissions } })),
          { name: 'judged', schema: things, authorization: { permissions, objectLevel: () => true } },
        ],
      })
      await opened.exec(
        `insert into things (id, organization_id, title, ${dialect === 'sqlite' ? 'real' : '"double"'.replaceAll('"', dialect === 'mysql' ? '`' : '"')}) values (1, 1, 'one', 1.7e308), (2, 1, 'two', 1.7e308)`,
      )
      forge = async (sort, value) => {
        const { useApi } = await import('../../src/runtime/server/runtime')
        const { createCursor } = await import('../../src/runtime/server/core/sql/cursor')
        const { planOrder } = await import('../../src/runtime/server/core/plan/order')
        const { allFields } = await import('../../src/runtime/server/core/access/fields')
        const resource = useApi().resources.get('things')!
        return createCursor(resource, planOrder(resource, allFields(resource), [{ name: sort, descending: false }], []), [value, 1])
      }
    })
    afterAll(() => opened?.close())

    beforeEach(() => {
      vi.spyOn(console, 'error').mockImplementation(() => {})
    })
    afterEach(() => {
      const logged = vi.mocked(console.error).mock.calls.map(call => call.map(String))
      vi.restoreAllMocks()
      expect(logged).toEqual([])
    })

    const get = async (path: string, query: Readonly<Record<string, unknown>>) => {
      const text = Object.entries(query).map(([name,
        value]) => `${name}=${encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))}`)
      const { status, body } = await server.request('GET', `/api/${path}?${text.join('&')}`, { caller: CALLER })
      return [status, status === 200 ? body.data : body.data?.code]
    }

    const CASES = Object.entries(UNFIT[dialect]!).flatMap(([column, values]) => values.map(value => [column, JSON.stringify(value),
      value] as const))

    it.each(CASES)('returns 400 with the field in a body: %s = %s', async (column, _text, value) => {
      for (const [method, path] of [['POST', 'things'], ['PATCH', 'things/1']] as const) {
        const { status, body } = await server.request(method, `/api/${path}`, { body: { title: 'a', organizationId: 1, [column]: value },
          caller: CALLER })
        expect([status, body.data?.code, body.data?.issues?.map((issue: { path: string[] }) => issue.path[0])]).toEqual([400,
          'VALIDATION_FAILED', [column]])
      }
    })

    it.each(CASES)('returns 400 in a filter, in a list of one value and with an aggregate: %s = %s', async (column, _text, value) => {
      const code = UNFILTERED.has(column) ? 'INVALID_OPERATOR' : 'INVALID_VALUE'
      const filters = [{ [column]: { $eq: value } }, { [column]: { $in: [value] } }, { $or: [{ [column]: { $gt: value } }] }].slice(0,
        Array.isArray(value) || typeof value === 'object' ? 2 : 3)
      for (const filter of filters) {
        expect(await get('things', { filter })).toEqual([400, expect.stringMatching(/INVALID_VALUE|INVALID_OPERATOR/)])
        expect(await get('things/aggregate', { filter })).toEqual([400, expect.stringMatching(/INVALID_VALUE|INVALID_OPERATOR/)])
      }
      expect((await get('things', { filter: filters[0] }))[1]).toBe(code)
    })

    // A cursor cannot contain half of a surrogate pair: its text is UTF-8.
    it.each(
      CASES.filter(
        ([column, , value]) =>
          typeof value !== 'object' && value !== '\uD800' && !UNFILTERED.has(column) && kindOf(getTableColumns(things)[column]!) !== 'date',
      ),
    )('is a 400 INVALID_CURSOR in a cursor that is made with it: %s = %s', async (column, _text, value) => {
      expect(await get('things', { sort: column, cursor: await forge(column, value) })).toEqual([400, 'INVALID_CURSOR'])
    })

    it.each(['9'.repeat(20_000), `0.${'0'.repeat(20_000)}1`, '1e-20000', '1e20000',
      1e-300])('is a 400 in having where no engine computes with such a number, or an answer: %#', async (value) => {
      for (const resource of ['things', 'judged']) {
        for (const alias of ['count', 'sum', 'avg'].map(name => name === 'count' ? name : `${name}_id`)) {
          const [status, code] = await get(`${resource}/aggregate`, { aggregate: alias.replace('_id', '(id)'),
            having: { [alias]: { $gt: value } } })
          expect([status, code]).toEqual(typeof value === 'number' ? [200, expect.any(Array)] : [400, 'INVALID_VALUE'])
        }
      }
    })

    it('returns null for a sum or an average beyond a double, in SQL and in memory', async () => {
      const name = dialect === 'sqlite' ? 'real' : 'double'
      for (const resource of ['things', 'judged']) {
        const [status, data] = await get(`${resource}/aggregate`, { aggregate: `sum(${name}),avg(${name}),max(${name})` })
        // D1 reads the digits of a literal less exactly than others do.
        const max = expect.toSatisfy((value: number) => value > 1.69e308)
        expect([status, data]).toEqual([200, [{ [`sum_${name}`]: null, [`avg_${name}`]: null, [`max_${name}`]: max }]])
        for (const condition of [{ $gt: 1 }, { $lt: 1 }, { $eq: '1e300' }]) expect((await get(`${resource}/aggregate`,
          { aggregate: `sum(${name})`, groupBy: 'organizationId', sort: `-sum_${name}`,
            having: { [`sum_${name}`]: condition } }))[0]).toBe(200)
      }
    })

    it('returns 400 or a page for a cursor with text, whatever the column', async () => {
      for (const column of Object.keys(getTableColumns(things))) {
        const cursor = await forge(column, 'aaaaaaaaa').catch(() => 'none')
        const [status] = await get('things', { sort: column, cursor })
        expect([column, status]).toEqual([column, expect.toSatisfy((code: number) => code === 200 || code === 400)])
      }
    })

    it('returns 400 or a page for a cursor with bytes, whatever the column', async () => {
      for (const column of Object.keys(getTableColumns(things))) {
        // A column without an order has no cursor.
        const cursor = await forge(column, Buffer.from([0, 255, 65])).catch(() => 'none')
        const [status] = await get('things', { sort: column, cursor })
        expect([column, status]).toEqual([column, expect.toSatisfy((code: number) => code === 200 || code === 400)])
      }
    })

    it('shows rows with infinite numbers once in pages by cursor, and refuses such cursors where no column can contain them', async () => {
      const name = dialect === 'sqlite' ? 'real' : 'double'
      for (const value of [Infinity, -Infinity, NaN]) {
        const isStored = dialect === 'pg' || (dialect === 'sqlite' && !Number.isNaN(value))
        const [status, data] = await get('things', { sort: name, cursor: await forge(name, value) })
        expect([status, isStored ? 'INVALID_CURSOR' : data]).toEqual([isStored ? 200 : 400, 'INVALID_CURSOR'])
      }
      // MySQL has no infinite numbers, and D1 sends them as NULL.
      if (dialect === 'mysql' || engineCase.name === 'd1') return
      const numbers = dialect === 'pg' ? ['\'infinity\'', '\'-infinity\'', '\'nan\''] : ['9e999', '-9e999', 'null']
      const values = [...numbers, '1e21', ...numbers, 'null', '-1e-7'].map((number, index) => `(${100 + index}, 1, 'endless', ${number})`)
      await opened.exec(
        `insert into things (id, organization_id, title, ${name === 'double' ? '"double"' : name}) values ${values.join(', ')}`,
      )
      try {
        for (const sort of [name, `-${name}`]) {
          const ids: number[] = []
          for (let cursor: string | null = ''; cursor !== null && ids.length <= values.length;) {
            const filter = JSON.stringify({ title: 'endless' })
            const { body } = (await server.request(
              'GET',
              `/api/things?${new URLSearchParams({ sort, filter, fields: 'id', limit: '1', cursor })}`,
              { caller: CALLER },
            )) as { body: { data: { id: number }[], meta: { nextCursor: string | null } } }
            ids.push(...body.data.map(({ id }) => id))
            cursor = body.meta.nextCursor
          }
          expect(ids.toSorted()).toEqual(values.map((_, index) => 100 + index))
        }
      }
      finally {
        await opened.exec('delete from things where id >= 100')
      }
    })

    it.each([['things', 'abc'], ['parts', 'x'], ['pairs', 'abc,10.0.0.1'], ['pairs', '2024-02-29,abc'], ['parts',
      '%F0%9F%98%80']])('returns 404 as an id in a path: %s/%s', async (resource, id) => {
      for (const [method, path, body] of [['GET', '', undefined], ['PATCH', '', {}], ['DELETE', '', undefined], ['DELETE', '?force=true',
        undefined], ['POST', '/restore', undefined]] as const) {
        expect((await server.request(method, `/api/${resource}/${id}${path}`, { body, caller: CALLER })).status).toBe(404)
      }
    })

    it('is no cascade group, or no name of one', async () => {
      const { status, body } = await server.request('POST', '/api/parts/bulk/restore', { body: { deletionId: 'x' }, caller: CALLER })
      expect([status, body.data.code]).toEqual(dialect === 'pg' ? [400, 'INVALID_VALUE'] : [404, 'NOT_FOUND'])
    })

    if (dialect === 'pg') {
      it('returns 400 without a field where only Postgres detects it', async () => {
        for (const barePoint of [false, 5, 'abc']) {
          const { status, body } = await server.request('POST', '/api/things', {
            body: { title: 'a', organizationId: 1, barePoint },
            caller: CALLER,
          })
          expect([status, body.data.code]).toEqual([400, 'VALIDATION_FAILED'])
        }
      })

      it('returns 400 in JSON that Postgres cannot store', async () => {
        for (const jsonb of [{ a: '\0' }, { '\0': 1 }, ['\uD800'], 'a\0']) {
          const { status, body } = await server.request('POST', '/api/things', { body: { title: 'a', organizationId: 1, jsonb },
            caller: CALLER })
          expect([status, body.data.issues?.[0].path]).toEqual([400, ['jsonb']])
        }
      })
    }
  })
})

/** Declared as text; in the database it is another type. */
const misdeclared = pgTable('misdeclared', { id: pgText('id').primaryKey(), amount: pgInteger('amount') })

describe.each(ENGINE_CASES.filter(({ dialect }) => dialect === 'pg'))('$name', ({ engine, open, ...engineCase }) => {
  describe.skipIf(!isAvailable({ engine, open, ...engineCase }))('a value that only the database can refuse', () => {
    let opened: Opened
    let server: TestServer
    beforeAll(async () => {
      opened = await open()
      await opened.exec('create table misdeclared (id uuid primary key, amount integer)')
      const rules = { permissions: { read: true as const, update: true as const, delete: true as const } }
      server = await createServer({
        db: opened.db, engine, registrations: [
          { name: 'misdeclared', schema: misdeclared, authorization: rules },
          { name: 'narrowed', schema: misdeclared, authorization: { ...rules, listFilter: () => sql`${misdeclared.amount} < ${5}` } },
          { name: 'broken', schema: misdeclared, authorization: { ...rules,
            listFilter: () => sql`${misdeclared.amount} = cast(${'abc'} as integer)` } },
        ],
      })
    })
    afterAll(() => opened?.close())

    const statusOf = async (method: string, path: string, body?: unknown) => {
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const { status, body: answer } = await server.request(method, `/api/${path}`, { body, caller: CALLER })
      vi.restoreAllMocks()
      return [status, answer.data?.code]
    }

    it.each(['misdeclared', 'narrowed'])('returns 400 in a filter and 404 as an id: %s', async (name) => {
      expect(await statusOf('GET', `${name}?filter={"id":"abc"}`)).toEqual([400, 'INVALID_VALUE'])
      expect(await statusOf('GET', `${name}/abc`)).toEqual([404, 'NOT_FOUND'])
      expect(await statusOf('PATCH', `${name}/abc`, {})).toEqual([404, 'NOT_FOUND'])
      expect(await statusOf('DELETE', `${name}/bulk`, { ids: ['abc', '11111111-1111-4111-8111-111111111111'] })).toEqual([404,
        'BULK_FAILED'])
    })

    it('returns 500 when it is part of the app\'s own row filter', async () => {
      expect(await statusOf('GET', 'broken')).toEqual([500, undefined])
      expect(await statusOf('GET', 'broken?filter={"amount":1}')).toEqual([500, undefined])
      expect(await statusOf('GET', 'broken/11111111-1111-4111-8111-111111111111')).toEqual([500, undefined])
    })
  })
})
