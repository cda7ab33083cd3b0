/** The file of `dataExport`: its form, its limits, its headers, and what becomes of it when the client or the database fails. */
import Database from 'better-sqlite3'
import { eq } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { dataExport, type DataExportOptions } from '../../../src/runtime/plugins'
import { createFile } from '../../../src/runtime/plugins/data-export/server/file'
import { FORMAT_FACTS, FORMATS } from '../../../src/runtime/plugins/data-export/server/formats'
import { createSlots } from '../../../src/runtime/plugins/data-export/server/concurrency-limit'
import { unguardFormula } from '../../../src/runtime/plugins/data-export/server/csv'
import type { AutoApiContext, ResourceAuth, ResourceRegistration } from '../../../src/runtime/server/registration'
import { INCOMPLETE, isIncomplete } from '../../../src/runtime/plugins/data-export/shared/failure'
import { parseCsv } from './exported'
import { createServer, type Caller, type TestServer } from '../../support/server'

const authors = sqliteTable('authors', { id: integer('id').primaryKey(), name: text('name') })
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title'),
  views: integer('views'),
  meta: text('meta', { mode: 'json' }),
  authorId: integer('author_id').references(() => authors.id),
  at: integer('at', { mode: 'timestamp_ms' }),
})

let client: Database.Database
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  client.close()
})

interface Options {
  readonly rows?: readonly Record<string, unknown>[]
  readonly count?: number
  readonly options?: DataExportOptions
  readonly auth?: Partial<ResourceAuth<never>>
  readonly hooks?: ResourceRegistration['hooks']
  readonly taken?: readonly string[]
  readonly disabled?: ResourceRegistration['disabled']
}

async function open({ rows = [], count = 0, options, auth, hooks, taken, disabled }: Options = {}) {
  client = new Database(':memory:')
  client.exec(`
    create table authors (id integer primary key, name text);
    create table posts (id integer primary key, title text, views integer, meta text, author_id integer, at integer);
    insert into authors values (1, 'Ann');
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      insert into posts (id, title) select i, 'post ' || i from n where ${count} > 0;
  `)
  const statements: string[] = []
  const db = drizzle({ client, logger: { logQuery: sql => void statements.push(sql) } })
  for (const row of rows) db.insert(posts).values(row as never).run()
  statements.length = 0
  const server = await createServer({
    db, taken,
    registrations: [
      { name: 'posts', schema: posts, hooks, disabled, authorization: { permissions: { read: true }, ...auth } as ResourceAuth },
      { name: 'authors', schema: authors, authorization: { permissions: { read: true } } },
    ],
    plugins: [dataExport(options)],
  })
  return {
    server,
    statements,
    get: async (path: string, headers: Record<string, string> = {}, caller: Caller = {}) => {
      const response = await server.fetch(new Request(`http://localhost/api/${path}`, { headers }), caller)
      const body = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        body,
        code: response.status < 400 ? undefined : (JSON.parse(body).data?.code as string),
      }
    },
  }
}

describe('a CSV file', () => {
  it('has a header, one line per record, and cells that keep NULL, empty text, quotes and line ends apart', async () => {
    const { get } = await open({ rows: [
      { id: 1, title: 'a,b', views: -5, meta: { a: 'x"y' }, authorId: 1, at: new Date(0) },
      { id: 2, title: '', meta: 'text' },
      { id: 3, title: 'say "hi"\r\nbye' },
    ] })
    const { status, headers, body } = await get('posts/export?format=csv&sort=id')
    expect(status).toBe(200)
    expect(body).toBe([
      'id,title,views,meta,authorId,at',
      '1,"a,b",-5,"{""a"":""x\\""y""}",1,1970-01-01T00:00:00.000Z',
      '2,"",,"""text""",,',
      '3,"say ""hi""\r\nbye",,,,',
      '',
    ].join('\r\n'))
    expect(
      Object.fromEntries(
        ['content-type', 'x-content-type-options', 'cache-control', 'x-total-count'].map(name => [name, headers.get(name)]),
      ),
    ).toEqual({
      'content-type': 'text/csv; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-total-count': '3',
    })
    expect(headers.get('content-disposition')).toMatch(
      /^attachment; filename="posts-\d{4}-\d\d-\d\d\.csv"; filename\*=UTF-8''posts-\d{4}-\d\d-\d\d\.csv$/,
    )
  })

  it('has a header without records', async () => {
    expect((await (await open()).get('posts/export')).body).toBe('id,title,views,meta,authorId,at\r\n')
  })

  it.each(['=1+1', '+1', '-1', '@x', '＝1+1', '＋1', '－1', '＠x', '\'＝1', '\tx', '\rx', '\nx', '\0=1', '=', '\'=1', '\'\'@'])(
    'has an apostrophe before text like a formula, which an import removes: %j',
    async (title) => {
      const { get } = await open({ rows: [{ id: 1, title }] })
      expect(parseCsv((await get('posts/export?fields=title')).body)).toEqual([['title'], [`'${title}`]])
      expect(parseCsv((await get('posts/export?fields=title&formulas=keep')).body)).toEqual([['title'], [title]])
      expect(unguardFormula(`'${title}`)).toBe(title)
    },
  )

  it.each(['a=1', '\'', '\'a', ' =1', 'é', '1-1'])('leaves other text as it is: %j', async (title) => {
    const { get } = await open({ rows: [{ id: 1, title }] })
    expect(parseCsv((await get('posts/export?fields=title')).body)).toEqual([['title'], [title]])
    expect(unguardFormula(title)).toBe(title)
  })

  it('guards text that a hook puts into a column of numbers, and leaves numbers as they are', async () => {
    const { get } = await open({
      rows: [
        { id: 1, views: -7 },
        { id: 2, views: 1 },
      ],
      hooks: {
        afterList: (rows: readonly Record<string, unknown>[]) => rows.map(row => (row.id === 2 ? { ...row, views: '=HYPERLINK()' } : row)),
      },
    })
    expect(parseCsv((await get('posts/export?fields=id,views')).body)).toEqual([['id', 'views'], ['1', '-7'], ['2', '\'=HYPERLINK()']])
  })

  it.each([['%3B', ';'], ['tab', '\t'], ['%09', '\t']])('has another separator: %s', async (separator, text) => {
    const { get } = await open({ rows: [{ id: 1, title: `a${text}b,c` }] })
    const { body } = await get(`posts/export?fields=id,title&separator=${separator}`)
    expect(body).toBe(`id${text}title\r\n1${text}"a${text}b,c"\r\n`)
  })

  it('begins with a byte order mark on request', async () => {
    const { get, server } = await open({ rows: [{ id: 1 }] })
    const response = await server.fetch(new Request('http://localhost/api/posts/export?bom=true&fields=id'))
    expect([...new Uint8Array(await response.arrayBuffer())].slice(0, 5)).toEqual([0xEF, 0xBB, 0xBF, 0x69, 0x64])
    expect((await get('posts/export?bom=false&fields=id')).body).toBe('id\r\n1\r\n')
  })

  it('has the columns of included records, which are empty without a record', async () => {
    const { get } = await open({ rows: [{ id: 1, authorId: 1 }, { id: 2 }] })
    expect(parseCsv((await get('posts/export?fields=id&include=author')).body)).toEqual([
      ['id', 'author.id', 'author.name'],
      ['1', '1', 'Ann'],
      ['2', '', ''],
    ])
  })

  it('has a column for each count', async () => {
    const { get } = await open({ rows: [{ id: 1, authorId: 1 }, { id: 2, authorId: 1 }] })
    expect(parseCsv((await get('authors/export?fields=name&counts=posts')).body)).toEqual([['name', '_count.posts'], ['Ann', '2']])
    const json = await get('posts/export?fields=id&include=author{counts:posts}&format=ndjson&sort=id')
    expect(JSON.parse(json.body.split('\n')[0]!)).toEqual({ id: 1, author: { id: 1, name: 'Ann', _count: { posts: 2 } } })
  })

  it('cannot contain a list', async () => {
    const { get } = await open({ rows: [{ id: 1, authorId: 1 }] })
    expect((await get('authors/export?include=posts')).code).toBe('INVALID_QUERY')
    expect(JSON.parse((await get('authors/export?include=posts&format=json')).body)[0].posts).toHaveLength(1)
  })
})

describe('the other formats', () => {
  const ROWS = [{ id: 1, title: 'a\nb' }, { id: 2, title: null }]

  it('are one JSON array', async () => {
    const { get } = await open({ rows: ROWS })
    const { body, headers } = await get('posts/export?format=json&fields=id,title')
    expect([JSON.parse(body), headers.get('content-type')]).toEqual([ROWS, 'application/json; charset=utf-8'])
    expect((await get('posts/export?format=json&filter[id]=9')).body).toBe('[]\n')
  })

  it('are one record a line', async () => {
    const { get } = await open({ rows: ROWS })
    const { body, headers } = await get('posts/export?format=ndjson&fields=id,title')
    expect([body, headers.get('content-type')]).toEqual([
      '{"id":1,"title":"a\\nb"}\n{"id":2,"title":null}\n',
      'application/x-ndjson; charset=utf-8',
    ])
    expect((await get('posts/export?format=ndjson&filter[id]=9')).body).toBe('')
  })
})

describe('the format', () => {
  it.each([
    ['text/csv', 'text/csv'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['text/csv;q=0.5, application/x-ndjson', 'application/x-ndjson'],
    ['text/csv, */*', 'text/csv'],
    ['text/csv, application/json;q=0.9', 'text/csv'],
    ['TEXT/CSV', 'text/csv'],
  ])('of a list follows the header Accept: %s', async (accept, type) => {
    const { get } = await open({ count: 3 })
    const [list, file] = [await get('posts?sort=-id', { accept }), await get(`posts/export?sort=-id&format=${type.replace(/.*[-/]/, '')}`)]
    expect([list.status, list.headers.get('content-type'), list.body]).toEqual([200, `${type}; charset=utf-8`, file.body])
    expect(list.headers.get('vary')).toContain('Accept')
  })

  it.each([
    '*/*',
    'application/json',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'text/csv, application/json',
    'text/csv;q=0',
    'text/*',
    '',
    'text/csv;q=x',
    'x'.repeat(3000),
  ])('of a list is JSON otherwise: %.40s', async (accept) => {
    const { body } = await (await open({ count: 3 })).get('posts', { accept })
    expect(JSON.parse(body).meta.total).toBe(3)
  })

  it('is an ordinary list without the plugin, for a disabled read, and for a resource or a format that is not listed', async () => {
    const accept = { accept: 'text/csv' }
    expect(JSON.parse((await (await open({ options: { formats: ['ndjson', 'json'] } })).get('posts', accept)).body).data).toEqual([])
    expect(JSON.parse((await (await open({ options: { resources: ['authors'] } })).get('posts', accept)).body).data).toEqual([])
    expect((await (await open({ options: { resources: ['authors'] } })).get('posts/export')).status).toBe(404)
    expect((await (await open({ disabled: ['read'] })).get('posts', accept)).code).toBe('METHOD_NOT_ALLOWED')
  })

  it('of a list that the app answers itself is the app\'s', async () => {
    const { server } = await open({ taken: ['GET /posts'] })
    expect(
      (await server.fetch(new Request('http://localhost/api/posts', { headers: { accept: 'text/csv' } }))).headers.get('content-type'),
    ).not.toContain('csv')
  })

  it('of a request without one is the first that the app allows', async () => {
    const { get } = await open({ options: { formats: ['ndjson', 'csv'] } })
    expect((await get('posts/export')).headers.get('content-type')).toContain('ndjson')
    expect((await get('posts/export?format=json')).code).toBe('INVALID_QUERY')
  })
})

describe('an export is refused', () => {
  it.each([
    'format=xlsx',
    'format=',
    'format=csv&format=json',
    'separator=|',
    'separator=',
    'separator=constructor',
    'bom=yes',
    'formulas=drop',
    'format=json&bom=true',
    'format=ndjson&separator=;',
    'page=1',
    'limit=5',
    'cursor=',
    'count=none',
    'cursorFields=id',
    'groupBy=id',
    'aggregate=count',
    'having={}',
  ])('with %s', async (query) => {
    const { get } = await open({ count: 1 })
    expect([
      (await get(`posts/export?${query}`)).code,
      (await get(`posts?${query.replace(/^format=json/, 'format=ndjson')}`, { accept: 'text/csv' })).code,
    ]).toEqual(['INVALID_QUERY', 'INVALID_QUERY'])
  })

  it('with more than maxRows records, before the first byte and after one count that stops there', async () => {
    const { get, statements } = await open({ count: 11, options: { maxRows: 10 } })
    expect(await get('posts/export')).toMatchObject({ status: 400, code: 'LIMIT_EXCEEDED' })
    expect(statements.slice(1)).toEqual([
      expect.stringMatching(/^select count\(\*\) from \(select 1 from "posts".*limit likely\(\?\)\) as counted$/),
    ])
    expect(parseCsv((await get('posts/export?filter[id][$lte]=10')).body)).toHaveLength(11)
  })

  it('with more than maxRows records that objectLevel accepts, not with more rows that it refuses', async () => {
    const { get } = await open({
      count: 40,
      options: { maxRows: 10 },
      auth: {
        objectLevel: (row: { id: number }, ctx: AutoApiContext) => row.id % (ctx.permissions.includes('half') ? 2 : 4) === 0,
      } as never,
    })
    expect(
      parseCsv((await get('posts/export?fields=id')).body)
        .slice(1)
        .map(([id]) => Number(id)),
    ).toEqual([4, 8, 12, 16, 20, 24, 28, 32, 36, 40])
    expect((await get('posts/export', {}, { user: { id: 1 }, permissions: ['half'] })).code).toBe('LIMIT_EXCEEDED')
  })

  it('without the permission, also for HEAD and before any query is read', async () => {
    const { get, server, statements } = await open({ count: 1, auth: { permissions: { read: 'reader' } } })
    expect((await get('posts/export?format=nothing')).status).toBe(401)
    expect((await get('posts/export', {}, { user: { id: 1 }, permissions: [] })).status).toBe(403)
    expect((await server.fetch(new Request('http://localhost/api/posts/export', { method: 'HEAD' }))).status).toBe(401)
    expect(statements.filter(sql => sql.startsWith('select'))).toEqual([])
  })
})

describe('the named gate `export`', () => {
  const auth = {
    permissions: { read: 'reader', viewDeleted: 'editor' },
    custom: { export: { permissions: { read: 'exporter' } } },
  } as const
  const EXPORTER: Caller = { user: { id: 1 }, permissions: ['exporter'] }
  const READER: Caller = { user: { id: 1 }, permissions: ['reader'] }

  it.each<[string, Record<string, string>]>([
    ['posts/export', {}],
    ['posts', { accept: 'text/csv' }],
  ])('decides instead of `read`: %s', async (path, headers) => {
    const { get } = await open({ count: 1, auth })
    expect([
      (await get(path, headers, EXPORTER)).status,
      (await get(path, headers, READER)).status,
      (await get(path, headers)).status,
    ]).toEqual([200, 403, 401])
    expect((await get(`${path}?onlyDeleted=true`, headers, EXPORTER)).status).toBe(403)
  })
})

describe('exports at the same time', () => {
  const CALLERS = [1, 2, 3].map((id): Caller => ({ user: { id } }))
  const start = async (server: TestServer, caller: Caller) => {
    const response = await server.fetch(new Request('http://localhost/api/posts/export?format=ndjson'), caller)
    expect(response.status).toBe(200)
    const reader = response.body!.getReader()
    await reader.read()
    return reader
  }

  it('are at most `concurrent`, and the next one begins when one has ended, failed or been left', async () => {
    const { get, server } = await open({ count: 5000, options: { concurrent: 2, maxRows: 5000 } })
    const [one, two, three] = CALLERS as [Caller, Caller, Caller]
    const [first, second] = [await start(server, one), await start(server, two)]
    const refused = await get('posts/export', {}, three)
    expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([503, 'BUSY', '5'])
    await first.cancel()
    expect((await get('posts/export', {}, three)).status).toBe(200)
    while (!(await second.read()).done);
    expect((await get('posts/export?filter[id]=x')).status).toBe(400)
    expect(await Promise.all([one, two].map(async caller => (await get('posts/export?filter[id]=1', {}, caller)).status))).toEqual([
      200, 200,
    ])
  })

  it('of one caller take half of them, so that a caller who reads slowly does not block others', async () => {
    const { get, server } = await open({ count: 5000, options: { concurrent: 2, maxRows: 5000 } })
    for (const caller of [{}, CALLERS[0]!, { ...CALLERS[0], permissions: ['other'] }]) {
      const reader = await start(server, caller)
      const refused = await get('posts/export', {}, caller)
      expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([503, 'BUSY', '5'])
      expect((await get('posts/export', {}, CALLERS[1])).status).toBe(200)
      await reader.cancel()
    }
  })

  it('do not count refused exports and HEAD requests', async () => {
    const { get, server } = await open({ count: 3, options: { concurrent: 1, maxRows: 2 } })
    for (let index = 0; index < 5; index++) {
      expect((await get('posts/export')).status).toBe(400)
      const head = await server.fetch(new Request('http://localhost/api/posts/export', { method: 'HEAD' }))
      expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    }
    expect((await get('posts/export?filter[id]=1')).status).toBe(200)
  })

  it('lose a client that accepts nothing for too long, and break its file', async () => {
    const { get } = await open()
    const slots = createSlots(1, 'exports')
    let ended = false
    const chunks = createFile(
      {
        columns: { fields: [], relations: [] },
        count: async () => 3,
        async* batches() {
          try {
            for (;;) yield [{}]
          }
          finally {
            ended = true
          }
        },
      },
      { begin: '', record: () => 'x'.repeat(70_000), end: '', failure: 'failed' },
      { maxRows: 10, take: () => slots.take('a'), onTotal: () => {}, stallLimit: 50 },
    )[Symbol.asyncIterator]()
    await chunks.next()
    expect(() => slots.take('b')).toThrow('Too many exports')
    await wait(100)
    slots.take('a')()
    expect(ended).toBe(true)
    expect(await chunks.next()).toEqual({ done: false, value: 'failed' })
    await expect(chunks.next()).rejects.toThrow('was too slow')
    expect((await get('posts/export')).status).toBe(200)
  })

  it('ends when its client is much too slow for longer, but not for one slow chunk', async () => {
    await open()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const slots = createSlots(2, 'exports')
    const endless = () =>
      createFile(
        {
          columns: { fields: [], relations: [] },
          count: async () => 100,
          async* batches() {
            yield Array.from({ length: 100 }, (_, id) => ({ id }))
          },
        },
        { begin: '', record: () => 'x'.repeat(70_000), end: '', failure: 'failed' },
        { maxRows: 100, take: () => slots.take(''), onTotal: () => {}, stallLimit: 300 },
      )[Symbol.asyncIterator]()
    const wait = (time: number) => vi.advanceTimersByTimeAsync(time)
    const slow = endless()
    let accepted = 0
    const refused = (async () => {
      for (; accepted < 50; accepted++) {
        await slow.next()
        await wait(120)
      }
    })().catch(error => String(error))
    expect(await refused).toContain('was too slow')
    expect([accepted > 1, accepted < 10]).toEqual([true, true])
    const quick = endless()
    for (let pause = 0; pause < 5; pause++) {
      await quick.next()
      await wait(250)
      for (let chunk = 0; chunk < 10; chunk++) await quick.next()
    }
    await quick.next()
    await quick.return!()
    slots.take('a')()
    slots.take('a')()
  })
})

describe('a file', () => {
  it('breaks if the database fails after some batches', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    let batches = 0
    const hooks = { afterList: (rows: readonly Record<string, unknown>[]) => {
      if (++batches === 3) client.exec('drop table posts')
      return rows
    } }
    const { server } = await open({ hooks })
    client.exec('drop table posts')
    const listening = await server.listen()
    for (const format of ['csv', 'ndjson', 'json']) {
      batches = 0
      client.exec(
        'create table posts (id integer primary key, title text, views integer, meta text, author_id integer, at integer); with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) insert into posts (id, title) select i, hex(zeroblob(200)) from n',
      )
      const response = await fetch(`${listening.url}/api/posts/export?format=${format}`)
      expect(response.status).toBe(200)
      await expect(response.text()).rejects.toThrow()
    }
    await listening.close()
    expect(log).toHaveBeenCalled()
  })

  it.each([
    ['csv', (text: string) => parseCsv(`${text}\r\n`)],
    ['ndjson', (text: string) => text.split('\n').map(line => line === '' || JSON.parse(line))],
    ['json', JSON.parse],
  ] as const)('cannot be read as a complete one if it fails, even if the response ends: %s', async (format, read) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    let batches = 0
    const hooks = { afterList: (rows: readonly Record<string, unknown>[]) => {
      if (++batches === 3) client.exec('drop table posts')
      return rows
    } }
    const { server } = await open({ count: 3000, hooks })
    const reader = (await server.fetch(new Request(`http://localhost/api/posts/export?format=${format}`))).body!.getReader()
    const decoder = new TextDecoder()
    let text = ''
    await expect((async () => {
      for (let part = await reader.read(); !part.done; part = await reader.read()) text += decoder.decode(part.value, { stream: true })
    })()).rejects.toThrow()
    expect(text).toContain('post 1000')
    expect(() => read(text)).toThrow()
    expect(isIncomplete(FORMAT_FACTS[format].mediaType, text)).toBe(true)
  })

  it.each(FORMATS)('is known to be complete if it is: %s', async (format) => {
    const { get } = await open({ rows: [{ id: 1, title: INCOMPLETE }] })
    expect(isIncomplete(FORMAT_FACTS[format].mediaType, (await get(`posts/export?fields=title&format=${format}`)).body)).toBe(false)
    expect(isIncomplete(FORMAT_FACTS[format].mediaType, (await get(`posts/export?fields=title&format=${format}&filter[id]=2`)).body)).toBe(
      false,
    )
  })

  it('has an ordinary error response if it fails before the first byte', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { get } = await open({ count: 3, hooks: { afterList: () => {
      throw new Error('first batch')
    } } })
    expect((await get('posts/export')).status).toBe(500)
  })

  it('has each row once that stays as it is, while others come and go', async () => {
    let batches = 0
    const hooks = { afterList: (rows: readonly Record<string, unknown>[]) => {
      batches++
      client.exec(
        `delete from posts where id = ${batches * 10}; insert into posts (id, title) values (${-batches}, 'new'), (${100_000 + batches}, 'new'); update posts set title = 'changed' where id = ${batches * 100 + 1}`,
      )
      return rows
    } }
    const { get } = await open({ count: 3000, hooks, auth: { listFilter: (table: typeof posts) => eq(table.id, table.id) } as never })
    const { body } = await get('posts/export?format=ndjson&fields=id')
    const ids = body.trim().split('\n').map(line => JSON.parse(line).id as number)
    expect(batches).toBeGreaterThan(5)
    expect(new Set(ids).size).toBe(ids.length)
    const found = new Set(ids)
    for (let id = 1; id <= 3000; id++) if (id % 10 !== 0) expect(found.has(id), String(id)).toBe(true)
  })

  it('is read only as fast as the client takes it', async () => {
    const { server, statements } = await open({ count: 50_000 })
    const reader = (await server.fetch(new Request('http://localhost/api/posts/export'))).body!.getReader()
    await reader.read()
    await wait(50)
    expect(statements.length).toBeLessThan(6)
    await reader.cancel()
    const { length } = statements
    await wait(50)
    expect(statements).toHaveLength(length)
  })
})

describe('the options of dataExport', () => {
  it.each<[object, RegExp]>([
    [{ formats: ['jsn'] }, /`dataExport.formats` contains "jsn".*Did you mean `json`/],
    [{ formats: [] }, /`dataExport.formats` is an empty list/],
    [{ maxRows: 0 }, /`dataExport.maxRows` is 0/],
    [{ concurrent: 1.5 }, /`dataExport.concurrent` is 1.5/],
    [{ resources: 'posts' }, /`dataExport.resources` is "posts"/],
  ])('are checked when the factory is called: %j', (options, message) => {
    client = new Database(':memory:')
    expect(() => dataExport(options)).toThrow(message)
  })

  it('name registered resources, or the server does not start', async () => {
    await expect(open({ options: { resources: ['post'] } })).rejects.toThrow('not a registered resource')
  })
})
