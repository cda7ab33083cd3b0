/** On every SQLite engine: images of a table with many columns and unusual values. */

import { sql } from 'drizzle-orm'
import { blob, customType, integer, numeric, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { defineAutoApiPlugin } from '../../src/runtime/server/define'
import { createServer, type TestServer } from '../support/server'
import { ENGINE_CASES, type Opened } from './support/databases'

const upper = customType<{ data: string }>({ dataType: () => 'text', toDriver: value => value.toUpperCase() })
const extra = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`extra${index}`, text(`extra_${index}`)]))
const things = sqliteTable(
  'things',
  {
    code: text('code').notNull(),
    part: integer('part').notNull(),
    name: text('it\'s "name"'),
    flag: integer('flag', { mode: 'boolean' }),
    seconds: integer('seconds', { mode: 'timestamp' }),
    ms: integer('ms', { mode: 'timestamp_ms' }),
    ratio: real('ratio'),
    amount: numeric('amount'),
    amountNumber: numeric('amount_number', { mode: 'number' }),
    amountBig: numeric('amount_big', { mode: 'bigint' }),
    count: integer('count'),
    data: text('data', { mode: 'json' }),
    blobData: blob('blob_data', { mode: 'json' }),
    big: blob('big', { mode: 'bigint' }),
    bytes: blob('bytes', { mode: 'buffer' }),
    upper: upper('upper'),
    twice: integer('twice').generatedAlwaysAs(sql`"count" * 2`),
    ...extra,
  },
  t => [primaryKey({ columns: [t.code, t.part] })],
)
const ledger = sqliteTable('ledger', {
  id: text('id').primaryKey(), kind: text('kind'), recordId: text('record_id'), note: text('note'),
  columns: text('columns', { mode: 'json' }), before: text('before', { mode: 'json' }), after: text('after', { mode: 'json' }),
})
const DDL = `create table things (code text not null, part integer not null, "it's ""name""" text, flag integer, seconds integer, ms integer, ratio real, amount numeric, amount_number numeric, amount_big numeric,
  count integer, data text, blob_data blob, big blob, bytes blob, upper text, twice integer generated always as ("count" * 2), ${Object.keys(
    extra,
  )
    .map((_, index) => `extra_${index} text`)
    .join(', ')}, primary key (code, part));
  create table ledger (id text primary key, kind text, record_id text, note text, columns text, before text, after text);`

const VALUES: readonly Record<string, unknown>[] = [
  {
    name: 'it\'s "q" \\ \u2028 ü 😀 ?1 $1 :a',
    flag: true,
    seconds: '2026-01-02T03:04:05.000Z',
    ms: '1969-12-31T23:59:59.999Z',
    ratio: 0.1,
    amount: '12.50',
    amountNumber: 1.5,
    amountBig: '9007199254740991',
    count: 3,
    data: { 'a': [1, 'x', null, true], 'k"': { '': 0 } },
    blobData: { b: [1.5] },
    big: '9223372036854775807',
    bytes: 'AP8Q',
    upper: 'abc',
    extra39: '[1]',
  },
  {
    name: '[1]',
    flag: false,
    seconds: '0001-01-01T00:00:00.000Z',
    ms: '9999-12-31T23:59:59.999Z',
    ratio: 1e300,
    amount: '0.1',
    amountNumber: 1e21,
    amountBig: '-5',
    count: -4503599627370495,
    data: '[1]',
    blobData: 'x',
    big: '-1',
    bytes: '',
    upper: '',
  },
  { name: '', ratio: -0, amount: '100', data: [1], count: 0, ratioX: undefined, bytes: 'AA==' },
  { name: null, ratio: 5e-324, amount: '-0.0001', data: true, amountNumber: 0, flag: null },
  { name: 'null', ratio: 123456789012345680, amount: '9007199254740991', data: 1, extra0: 'a\tb\n\u0001\u007F' },
  { name: 'true', ratio: 3, data: 'null', amount: '3.0' },
  { data: '1' },
  { data: { a: true } },
  { data: { a: 1 } },
]

interface Entry {
  kind: string
  recordId: string
  columns: string[]
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

describe.each(ENGINE_CASES.filter(({ dialect }) => dialect === 'sqlite'))('$name', ({ engine, open }) => {
  let opened: Opened
  let server: TestServer
  beforeAll(async () => {
    opened = await open()
    await opened.exec(DDL)
    server = await createServer({
      db: opened.db,
      engine,
      modules: [{ things, ledger }],
      registrations: [
        { name: 'things', schema: things, authorization: { permissions: { read: true, create: true, update: true, delete: true } } },
      ],
      plugins: [
        defineAutoApiPlugin({
          name: 'writer',
          needs: { images: true },
          inCommit: changes =>
            changes.map(rows =>
              rows.insertInto(ledger, {
                id: rows.uuid,
                kind: rows.kind,
                recordId: rows.id,
                note: '? "x" \'y\'',
                columns: rows.columns,
                before: rows.before,
                after: rows.after,
              }),
            ),
        }),
      ],
      config: { bulk: { enabled: true, maxBatchSize: 1000, transactional: true } },
    })
  })
  beforeEach(() => opened.exec('delete from things; delete from ledger;'))
  afterAll(() => opened?.close())

  const entries = async () => {
    const db = opened.db as { select: () => { from: (table: unknown) => { orderBy: (by: unknown) => Promise<Entry[]> } } }
    const found = await db.select().from(ledger).orderBy(sql`rowid`)
    await opened.exec('delete from ledger')
    return found
  }
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await server.request(method, `/api/things${path}`, { body, caller: { user: { id: 1 } } })
    expect({ status: answer.status, text: answer.status < 400 ? '' : answer.text }).toEqual({
      status: expect.toSatisfy((status: number) => status < 400),
      text: '',
    })
    return answer.body as Record<string, unknown>
  }
  const CODES = ['a,b', 'ü%/"\'?', '', '😀 +', '.', '1', 'b', 'c', 'd']
  const path = (code: string) => `/${encodeURIComponent(code)},7`

  it('writes the values as the API returns them', async () => {
    for (const [index, values] of VALUES.entries()) {
      const record = await send('POST', '', { code: CODES[index], part: 7, ...values })
      const [entry] = await entries()
      expect(entry).toEqual({
        ...entry,
        kind: 'create',
        recordId: `${encodeURIComponent(CODES[index]!)},7`,
        note: '? "x" \'y\'',
        before: null,
        after: record,
      })
    }
  })

  it('writes the changed values of updates', async () => {
    let record = await send('POST', '', { code: 'a', part: 7, ...VALUES[0] })
    await entries()
    for (const values of [...VALUES, ...VALUES.toReversed()]) {
      const next = await send('PATCH', path('a'), values)
      const [entry] = await entries()
      const changed = Object.keys(next).filter(name => name !== 'twice' && JSON.stringify(next[name]) !== JSON.stringify(record[name]))
      const pick = (of: Record<string, unknown>) => Object.fromEntries(changed.map(name => [name, of[name]]))
      const without = (of: Record<string, unknown> | null) => Object.fromEntries(Object.entries(of!).filter(([name]) => name !== 'twice'))
      expect({
        columns: entry!.columns.filter(name => name !== 'twice'),
        before: without(entry!.before),
        after: without(entry!.after),
      }).toEqual({ columns: changed, before: pick(record), after: pick(next) })
      record = next
    }
    await send('DELETE', path('a'))
    expect((await entries())[0]).toMatchObject({ kind: 'delete', recordId: 'a,7', before: record, after: null })
  })

  it('writes the images of 120 rows of one request', async () => {
    const items = Array.from({ length: 120 }, (_, index) => ({
      code: `c${index}`,
      part: 7,
      name: 'x'.repeat(100),
      extra1: 'y',
      count: index,
    }))
    await send('POST', '/bulk', { items })
    const made = await entries()
    expect(made.map(({ recordId, after }) => `${recordId} ${after!.count}`).sort()).toEqual(
      items.map(({ code, count }) => `${code},7 ${count}`).sort(),
    )
    await send('PATCH', '/bulk', { items: items.map(({ code, count }) => ({ id: `${code},7`, data: { count: count + 1, extra2: 'z' } })) })
    expect((await entries()).map(({ recordId, after }) => `${recordId} ${after!.count}`).sort()).toEqual(
      items.map(({ code, count }) => `${code},7 ${count + 1}`).sort(),
    )
    await send('DELETE', '/bulk', { ids: items.map(({ code }) => `${code},7`) })
    expect((await entries()).map(({ recordId, before }) => `${recordId} ${before!.count}`).sort()).toEqual(
      items.map(({ code, count }) => `${code},7 ${count + 1}`).sort(),
    )
  }, 60_000)

  it('writes stored values that the API does not accept', async () => {
    await opened.exec(
      `insert into things (code, part, ms, seconds, "it's ""name""", ratio) values ('odd', 7, -62135596800000, 253402300799, cast(x'610062' as text), 9e999)`,
    )
    const record = await send('GET', path('odd'))
    await send('DELETE', path('odd'))
    expect((await entries())[0]!.before).toEqual(record)
  })
})
