/** The limit on the size of a JSON response: whatever route answers, and before any text is made. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineAutoApiPlugin } from '../../../src/runtime/server/define'
import { auditLog, dataExport } from '../../../src/runtime/plugins/index'
import { auditLogColumns } from '../../../src/runtime/plugins/schema-sqlite'
import type { ResourceHooks } from '../../../src/runtime/server/registration'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { auditLogSql } from '../../engines/support/audit-log'
import { createServer } from '../../support/server'

const authors = sqliteTable('authors', { id: integer('id').primaryKey(), name: text('name') })
const essays = sqliteTable('essays', {
  id: integer('id').primaryKey(), authorId: integer('author_id').references(() => authors.id), title: text('title'), body: text('body'),
  extra: text('extra', { mode: 'json' }), deletedAt: integer('deleted_at', { mode: 'timestamp' }),
})

let client: Database.Database
afterEach(() => {
  vi.restoreAllMocks()
  client.close()
})

const KB = 1024

/** Ten essays, the last of which is in the trash. The body of each has so many characters. */
async function open({
  size = 4 * KB,
  http = {},
  relations = {},
  hooks,
  plugins = [],
  more = {},
  sql = '',
}: {
  size?: number
  http?: object
  relations?: object
  hooks?: ResourceHooks
  plugins?: unknown[]
  more?: Record<string, object>
  sql?: string
} = {}) {
  client = new Database(':memory:')
  client.exec(`
    create table authors (id integer primary key, name text);
    create table essays (id integer primary key, author_id integer, title text, body text, extra text, deleted_at integer);
    insert into authors values (1, 'Ann');
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 10)
    insert into essays select i, 1, 'essay ' || i, printf('%.*c', ${size}, 'x'), '{"a":[1,2]}', case when i = 10 then 1 end from n;
  `)
  client.exec(sql)
  const authorization = {
    permissions: { read: true as const, create: true as const, update: true as const, delete: true as const, restore: true as const },
  }
  const server = await createServer({
    db: drizzle({ client }),
    plugins,
    registrations: [
      { name: 'authors', schema: authors, authorization },
      { name: 'essays', schema: essays, authorization, hooks },
      ...Object.entries(more).map(([name, schema]) => ({ name, schema: schema as never, authorization })),
    ],
    modules: [{ authors, essays }],
    config: {
      http: { ...DEFAULT_CONFIG.http, maxResponseSize: 16 * KB, ...http },
      relations: { ...DEFAULT_CONFIG.relations, ...relations },
    },
  })
  return server
}

const logs = sqliteTable('audit_log', auditLogColumns())

/** Answers the first essays as often as the request asks for. */
const copies = defineAutoApiPlugin({
  name: 'copies',
  routes: [
    {
      method: 'GET',
      path: '/:resource/copies',
      operation: 'read',
      handler: ({ query }) => Array.from({ length: Number(query.count) }, () => 'z'.repeat(4 * KB)),
    },
  ],
})

async function openWithPlugins() {
  return open({ size: 2 * KB, plugins: [auditLog(), copies], more: { auditLog: logs }, sql: await auditLogSql('sqlite') })
}

const REFUSED = { status: 400, body: { data: { code: 'LIMIT_EXCEEDED' }, message: expect.stringContaining('`http.maxResponseSize`') } }

describe('a response above http.maxResponseSize', () => {
  it.each([
    ['a list', 'essays?limit=5', 'essays?limit=3'],
    ['a list by cursor', 'essays?limit=5&cursor=', 'essays?limit=3&cursor='],
    ['a list with fewer fields', 'essays', 'essays?fields=id,title'],
    ['a list of the trash and of active records', 'essays?includeDeleted=true&limit=5', 'essays?onlyDeleted=true'],
    ['the records of a relation', 'authors/1/relations/essays?limit=5', 'authors/1/relations/essays?limit=3'],
    ['a list with includes', 'authors?include=essays', 'authors?include=essays{limit:3}'],
    ['a get with includes', 'authors/1?include=essays', 'authors/1?include=essays{limit:3}'],
    [
      'aggregates of a list',
      'essays?fields=id&aggregate=max(body),min(body),max(title)&limit=1',
      'essays?fields=id&aggregate=max(title)',
      9 * KB,
    ],
    ['groups', 'essays/aggregate?groupBy=id,body', 'essays/aggregate?groupBy=id'],
  ])('is refused: %s', async (_, refused, answered, size: number | undefined = 4 * KB) => {
    const server = await open({ size })
    expect(await server.request('GET', `/api/${refused}`)).toMatchObject(REFUSED)
    const { status, text } = await server.request('GET', `/api/${answered}`)
    expect([status, text.length < 17 * KB]).toEqual([200, true])
  })

  it('is refused for one record', async () => {
    const server = await open({ size: 17 * KB })
    expect(await server.request('GET', '/api/essays/1')).toMatchObject(REFUSED)
    expect(await server.request('GET', '/api/essays/1?fields=title')).toMatchObject({ status: 200 })
  })

  it('is refused if a hook makes it too large', async () => {
    const server = await open({
      size: 1,
      hooks: { afterList: records => records.map(record => ({ ...record, body: 'y'.repeat(4 * KB) })) },
    })
    expect(await server.request('GET', '/api/essays?limit=5')).toMatchObject(REFUSED)
    expect(await server.request('GET', '/api/essays?limit=3')).toMatchObject({ status: 200 })
  })

  it.each([
    ['a history', 'GET', 'audit-log?limit=5', 'audit-log?limit=2'],
    ['a route of a plugin', 'GET', 'essays/copies?count=5', 'essays/copies?count=2'],
  ])('is refused for %s', async (_, method, refused, answered) => {
    const server = await openWithPlugins()
    for (let id = 1; id < 6; id++)
      expect(
        await server.request('PATCH', `/api/essays/${id}`, { body: { title: 'changed', body: `${id}`.repeat(2 * KB) } }),
      ).toMatchObject({ status: 200 })
    expect(await server.request(method, `/api/${refused}`)).toMatchObject(REFUSED)
    expect(await server.request(method, `/api/${answered}`)).toMatchObject({ status: 200 })
  })

  it('is refused before text is made or parsed of its values', async () => {
    const server = await open()
    const [stringify, parse] = [vi.spyOn(JSON, 'stringify'), vi.spyOn(JSON, 'parse')]
    await server.request('GET', '/api/essays?limit=5&count=none')
    const texts = stringify.mock.results.map(({ value }) => String(value))
    expect([texts.filter(text => text.length > KB), parse.mock.calls.filter(([text]) => text === '{"a":[1,2]}')]).toEqual([[], []])
  })

  it('is answered by an export, with included records that are too large for one list', async () => {
    const server = await open({ plugins: [dataExport()], relations: { maxBytes: 16 * KB } })
    client.exec(`update authors set name = printf('%.*c', ${4 * KB}, 'n')`)
    expect((await server.request('GET', '/api/essays?include=author&fields=id')).status).toBe(400)
    const { status, body } = await server.request('GET', '/api/essays/export?format=json&include=author')
    expect([
      status,
      body.map(({ id, body, author }: { id: number, body: string, author: { name: string } }) => [id, body.length, author.name.length]),
    ]).toEqual([200, Array.from({ length: 9 }, (_, index) => [index + 1, 4 * KB, 4 * KB])])
  })
})

describe('a write whose response would be too large', () => {
  it('is done, and returns the keys of its records', async () => {
    const server = await open()
    const items = Array.from({ length: 9 }, (_, index) => ({ id: index + 1, data: { title: 'changed' } }))
    const { status, body } = await server.request('PATCH', '/api/essays/bulk', { body: { items } })
    expect([status, body]).toEqual([200, { data: items.map(({ id }) => ({ id })), meta: { total: 9, successful: 9, failed: 0 } }])
    expect(client.prepare('select count(*) from essays where title = \'changed\'').pluck().get()).toBe(9)
  })

  it('returns the whole records if they fit', async () => {
    const server = await open()
    const { body } = await server.request('PATCH', '/api/essays/bulk', { body: { items: [{ id: 1, data: { title: 'changed' } }] } })
    expect(body.data[0]).toMatchObject({ id: 1, title: 'changed', body: 'x'.repeat(4 * KB) })
  })
})

describe('a large response', () => {
  it.each(['essays?limit=9', 'essays/1', 'authors?include=essays', 'essays/aggregate?groupBy=id,body'])(
    'has the text that JSON.stringify makes: %s',
    async (path) => {
      const server = await open({ size: 100 * KB, http: { maxResponseSize: 2 ** 24 } })
      const { status, text, headers } = await server.request('GET', `/api/${path}`)
      expect([status, text === JSON.stringify(JSON.parse(text)), text.length > 100 * KB]).toEqual([200, true, true])
      expect(await server.request('GET', `/api/${path}`, { headers: { 'if-none-match': headers.get('etag')! } })).toMatchObject({
        status: 304,
      })
      const head = await server.request('HEAD', `/api/${path}`)
      expect([head.headers.get('content-length'), head.headers.get('content-type'), head.headers.get('etag')]).toEqual([
        String(text.length),
        headers.get('content-type'),
        headers.get('etag'),
      ])
    },
  )
})
