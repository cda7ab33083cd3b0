/** The import of `dataExport`: files as lines, problems by line, all or nothing, and records that exist already. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, numeric, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { dataExport, type DataExportOptions } from '../../../src/runtime/plugins'
import type { ResourceAuth, ResourceRegistration } from '../../../src/runtime/server/registration'
import { createServer, type Caller } from '../../support/server'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  slug: text('slug').unique(),
  title: text('title', { length: 20 }).notNull().default('untitled'),
  views: integer('views'),
  price: numeric('price'),
  isOpen: integer('is_open', { mode: 'boolean' }),
  meta: text('meta', { mode: 'json' }),
  at: integer('at', { mode: 'timestamp_ms' }),
  authorId: integer('author_id').references(() => authors.id),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})
const authors = sqliteTable('authors', { id: integer('id').primaryKey(), name: text('name') })

let client: Database.Database
afterEach(() => {
  vi.restoreAllMocks()
  client.close()
})

interface Options {
  readonly rows?: readonly Record<string, unknown>[]
  readonly options?: DataExportOptions
  readonly auth?: Partial<ResourceAuth<never>>
  readonly hooks?: ResourceRegistration['hooks']
  readonly requireIfMatch?: boolean
}

const EDITOR: Caller = { user: { id: 1 }, permissions: ['create', 'update'] }
const CSV = 'text/csv'
const NDJSON = 'application/x-ndjson'

async function open({ rows = [], options, auth, hooks, requireIfMatch }: Options = {}) {
  client = new Database(':memory:')
  client.exec(`
    create table authors (id integer primary key, name text);
    create table posts (id integer primary key autoincrement, slug text unique, title text not null default 'untitled', views integer, price numeric, is_open integer, meta text, at integer, author_id integer references authors, deleted_at integer);
    insert into authors values (1, 'Ann');
  `)
  const db = drizzle({ client })
  for (const row of rows) db.insert(posts).values(row as never).run()
  const server = await createServer({
    db,
    registrations: [
      {
        name: 'posts',
        schema: posts,
        hooks,
        requireIfMatch,
        authorization: { permissions: { read: true, create: 'create', update: 'update' }, ...auth } as ResourceAuth,
      },
      { name: 'authors', schema: authors, authorization: { permissions: { read: true } } },
    ],
    plugins: [dataExport(options)],
  })
  const send = async (raw: string | Uint8Array, query = '', { type = CSV, caller = EDITOR }: { type?: string, caller?: Caller } = {}) => {
    const { status, body } = await server.request('POST', `/api/posts/import?${query}`, { raw, caller, headers: { 'content-type': type } })
    return {
      status,
      body,
      code: body?.data?.code as string | undefined,
      errors: body?.data?.errors as { line: number, code: string, issues?: unknown }[] | undefined,
    }
  }
  return { server, send, rows: () => client.prepare('select * from posts order by id').all() as Record<string, unknown>[] }
}

describe('a CSV file', () => {
  it('becomes one record per line, with the values of its cells', async () => {
    const { send, rows } = await open()
    const file
      = 'slug,title,views,price,isOpen,meta,at,authorId\r\na,"x, ""y""\r\nz",-5,0.10,TRUE,"{""k"":[1]}",2026-01-02T03:04:05Z,1\r\n"",,,,,,,\r\n'
    expect(await send(file)).toMatchObject({ status: 200, body: { data: { created: 2, updated: 0 }, meta: { total: 2 } } })
    expect(rows()).toMatchObject([
      {
        slug: 'a',
        title: 'x, "y"\r\nz',
        views: -5,
        price: 0.1,
        is_open: 1,
        meta: '{"k":[1]}',
        at: Date.UTC(2026, 0, 2, 3, 4, 5),
        author_id: 1,
      },
      // NULL in a column that cannot be NULL is its default, and `""` is an empty text.
      { slug: '', title: 'untitled', views: null, price: null, is_open: null, meta: null, at: null, author_id: null },
    ])
  })

  it.each<[what: string, file: string | Uint8Array, query?: string]>([
    ['LF', 'slug,title\na,b\n'],
    ['no last line end', 'slug,title\r\na,b'],
    ['a byte order mark', '\uFEFFslug,title\r\na,b\r\n'],
    ['another separator', 'slug;title\r\na;b\r\n', 'separator=;'],
    ['tabs', 'slug\ttitle\r\na\tb\r\n', 'separator=tab'],
    ['the separator that its first line names', 'sep=;\r\nslug;title\r\na;b\r\n', ''],
    ['a quoted line with a tab, against the parameter', '"SEP=\t"\nslug\ttitle\na\tb\n', 'separator=;'],
    ['UTF-16, as Excel saves it', Buffer.from('\uFEFFslug\ttitle\r\na\tb\r\n', 'utf16le'), 'separator=tab'],
    ['UTF-16 in the other order of bytes', Buffer.from('\uFEFFsep=;\nslug;title\na;b\n', 'utf16le').swap16()],
    ['empty lines', 'slug,title\r\n\r\na,b\r\n\r\n'],
    ['a column that only the server sets', 'id,slug,title,deletedAt\r\n77,a,b,2020-01-01\r\n'],
    ['the apostrophe of an export', 'slug,title\r\na,b\r\n'],
  ])('can have %s', async (_what, file, query) => {
    const { send, rows } = await open()
    expect((await send(file, query)).status).toBe(200)
    expect(rows()).toMatchObject([{ id: 1, slug: 'a', title: 'b', deleted_at: null }])
  })

  it.each([
    ['slug;title\r\na;b', '', '`;`'],
    ['slug\ttitle\r\na\tb', '', 'a tab'],
    ['slug,title\r\na,b', 'separator=;', 'a comma'],
    ['sep=,\nslug;title\na;b', 'separator=;', '`;`'],
  ])('with another separator is refused, and the parameter is named: %j, %s', async (file, query, separator) => {
    const { send, rows } = await open()
    const { status, body } = await send(file, query)
    expect([status, body.message, body.data]).toEqual([
      400,
      `The header of the file contains ${separator}. Send its separator as \`separator\`.`,
      { code: 'INVALID_QUERY', parameter: 'separator' },
    ])
    expect(rows()).toEqual([])
  })

  it('names the lines of the file, with the line of its separator', async () => {
    const { send } = await open()
    expect((await send('sep=;\nslug;title\na;b\nc')).errors).toMatchObject([{ line: 4 }])
    expect((await send('sep=;\nslug;title\na;"b')).errors).toMatchObject([{ line: 3 }])
  })

  it('has text that begins with an apostrophe and a formula as the export writes it', async () => {
    const { send, rows } = await open()
    await send('slug,title\r\n\'=1,\'\'@\r\n\'x,\'')
    await send('slug,title\r\n\'=2,=3', 'formulas=keep')
    expect(rows().map(({ slug, title }) => [slug, title])).toEqual([['=1', '\'@'], ['\'x', '\''], ['\'=2', '=3']])
  })

  it.each<[what: string, file: string | Uint8Array, errors: unknown]>([
    ['too few cells', 'slug,title\r\na,b\r\nc\r\nd,e', [{ line: 3, message: 'The line has 1 cells instead of 2.' }]],
    [
      'text after a quote',
      'slug,title\r\na,b\r\n"c"x,d',
      [{ line: 3, message: 'The line is no valid CSV: text follows a closing quote.' }],
    ],
    [
      'a quote inside of a cell',
      'slug,title\r\na,b\r\nc,d"e',
      [{ line: 3, message: 'The line is no valid CSV: a quote is inside of a cell without quotes.' }],
    ],
    ['a quote that is not closed', 'slug,title\r\na,"b', [{ line: 2, message: 'The line is no valid CSV: a quote is not closed.' }]],
    ['a column without a name', 'slug,,title\r\na,b,c', [{ line: 1, message: 'Column 2 has no name.' }]],
    ['a column twice', 'slug,slug\r\na,b', [{ line: 1, message: 'The column "slug" is given more than once.' }]],
  ])('is refused with %s, and the line is named', async (_what, file, errors) => {
    const { send, rows } = await open()
    expect(await send(file)).toMatchObject({ status: 400, code: 'BULK_FAILED', errors })
    expect(rows()).toEqual([])
  })

  it('names the line on which a record begins, after records with line ends', async () => {
    const { send } = await open()
    expect((await send('slug,title\n"a\nb\r\nc",x\nd,y\n"e\nf",this title is much too long\n')).errors).toMatchObject([
      { line: 6, code: 'VALIDATION_FAILED' },
    ])
  })

  it.each([
    ['views', 'x'],
    ['views', '1.5'],
    ['views', '9007199254740993'],
    ['price', 'abc'],
    ['isOpen', 'yes'],
    ['at', 'tomorrow'],
    ['colour', 'red'],
    ['title', 'x'.repeat(21)],
  ])('is refused with a value that does not fit: %s %s', async (column, value) => {
    const { send, rows } = await open()
    const { errors } = await send(`slug,${column}\r\na,${value}`)
    expect(errors).toMatchObject([{ line: 2, code: 'VALIDATION_FAILED', issues: [{ path: [column] }] }])
    expect(rows()).toEqual([])
  })
})

describe('an NDJSON file', () => {
  it('becomes one record per line', async () => {
    const { send, rows } = await open()
    expect((await send('{"slug":"a","title":"b"}\n\n{"slug":null,"views":3}', '', { type: NDJSON })).body).toEqual({
      data: { created: 2, updated: 0 },
      meta: { total: 2 },
    })
    expect(rows()).toMatchObject([{ slug: 'a', title: 'b' }, { slug: null, title: 'untitled', views: 3 }])
  })

  it.each(['{"slug":"b"', '[]', '1', 'null', '"x"', '{"slug":"\xFF'])('is refused with a line that is no object: %j', async (line) => {
    const { send, rows } = await open()
    expect((await send(`{"slug":"a"}\n\n${line}\n{"slug":"c"}`, '', { type: NDJSON })).errors).toMatchObject([
      { line: 3, code: 'INVALID_BODY' },
    ])
    expect(rows()).toEqual([])
  })
})

describe('an import', () => {
  it('writes nothing if one of its lines is refused, and lists each refused line', async () => {
    const { send, rows } = await open({ rows: [{ slug: 'taken' }] })
    const lines = Array.from({ length: 300 }, (_, index) => `s${index},${index === 40 || index === 250 ? 'x'.repeat(30) : 'ok'}`)
    expect((await send(`slug,title\r\n${lines.join('\r\n')}`)).errors).toMatchObject([{ line: 42 }, { line: 252 }])
    expect((await send('slug,title\r\na,1\r\ntaken,2\r\nb,3')).errors).toMatchObject([{ line: 3, code: 'CONFLICT' }])
    expect((await send('slug,authorId\r\na,1\r\nb,2')).errors).toMatchObject([{ line: 3, code: 'INVALID_REFERENCE' }])
    expect((await send('slug,title\r\na,1\r\na,2')).errors).toMatchObject([{ line: 2, code: 'CONFLICT' }, { line: 3, code: 'CONFLICT' }])
    expect(rows()).toHaveLength(1)
  })

  it('lists at most 100 problems', async () => {
    const { send } = await open()
    const { body, errors } = await send(`views\r\n${'x\r\n'.repeat(150)}`)
    expect([errors!.length, body.data.truncated]).toEqual([100, true])
  })

  it('runs the hooks of each record, and the field permissions', async () => {
    const beforeCreate = vi.fn((data: Record<string, unknown>) => ({ ...data, title: `${String(data.title)}!` }))
    const afterCreate = vi.fn()
    const { send, rows } = await open({ hooks: { beforeCreate, afterCreate }, auth: { fields: { views: { write: 'admin' } } } as never })
    expect((await send('slug,title\r\na,b\r\nc,d')).status).toBe(200)
    expect(rows().map(({ title }) => title)).toEqual(['b!', 'd!'])
    expect([beforeCreate.mock.calls.length, afterCreate.mock.calls.length]).toEqual([2, 2])
    expect((await send('slug,views\r\nx,\r\ny,1')).errors).toMatchObject([
      { line: 2, code: 'FIELD_FORBIDDEN' },
      { line: 3, code: 'FIELD_FORBIDDEN' },
    ])
  })

  it.each<[query: string, type: string]>([
    ['mode=merge', CSV],
    ['mode=', CSV],
    ['key=slug', CSV],
    ['mode=upsert&key=', CSV],
    ['dryRun=maybe', CSV],
    ['separator=|', CSV],
    ['formulas=drop', CSV],
    ['separator=;', NDJSON],
    ['mode=upsert&key=price', CSV],
    ['mode=upsert&mode=create', CSV],
  ])('is refused with the parameters %s of %s', async (query, type) => {
    const { send } = await open()
    expect(await send('slug\r\na', query, { type })).toMatchObject({ status: 400, code: 'INVALID_QUERY' })
  })

  it('is limited in its records and its size', async () => {
    const { send, rows } = await open({ options: { maxImportRows: 3, maxImportSize: 100 } })
    expect((await send('slug\r\na\r\nb\r\nc\r\nd')).code).toBe('LIMIT_EXCEEDED')
    expect(await send(`slug\r\n${'x'.repeat(200)}`)).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' })
    expect(rows()).toEqual([])
    expect((await send('slug\r\na\r\nb\r\nc')).status).toBe(200)
  })

  it('is refused without records, with another encoding, and with another media type', async () => {
    const { send } = await open()
    for (const file of ['', 'slug', 'slug,title\r\n\r\n', new Uint8Array([0xEF, 0xBB, 0xBF])])
      expect((await send(file)).code).toBe('INVALID_BODY')
    expect((await send(Buffer.from('slug\r\nZoë', 'latin1'))).code).toBe('INVALID_BODY')
    expect((await send(Buffer.from('slug\r\nZoë', 'utf16le'))).code).toMatch(/INVALID_BODY|BULK_FAILED/)
    expect((await send('{}', '', { type: 'application/json' })).status).toBe(415)
  })

  it('with a line that is too large is refused', async () => {
    const { send } = await open()
    expect((await send(`slug\r\na\r\n${'x'.repeat(1_100_000)}`)).errors).toMatchObject([{ line: 3, code: 'INVALID_BODY' }])
    expect((await send(`{"slug":"a"}\n{"slug":"${'x'.repeat(1_100_000)}`, '', { type: NDJSON })).errors).toMatchObject([
      { line: 2, code: 'INVALID_BODY' },
    ])
  })
})

describe('an upsert', () => {
  const ROWS = [
    { id: 1, slug: 'a', title: 'old a', views: 1 },
    { id: 2, slug: 'b', title: 'old b' },
    { id: 3, slug: 'gone', deletedAt: new Date(0) },
  ]

  it('updates the records with the same key and creates the others, in one commit', async () => {
    const { send, rows } = await open({ rows: ROWS })
    expect((await send('slug,title\r\nc,new c\r\nb,new b\r\na,\r\n,no key', 'mode=upsert&key=slug')).body).toEqual({
      data: { created: 2, updated: 2 },
      meta: { total: 4 },
    })
    expect(rows().map(({ slug, title }) => [slug, title])).toEqual([
      ['a', 'old a'],
      ['b', 'new b'],
      ['gone', 'untitled'],
      ['c', 'new c'],
      [null, 'no key'],
    ])
  })

  it('finds records by their id unless it names a key', async () => {
    const { send, rows } = await open({ rows: ROWS })
    expect((await send('id,title\r\n2,new b\r\n99,new', 'mode=upsert')).body.data).toEqual({ created: 1, updated: 1 })
    expect(rows().map(({ id, title }) => [id, title])).toEqual([[1, 'old a'], [2, 'new b'], [3, 'untitled'], [4, 'new']])
  })

  it('finds records by a time and a boolean, in each of their spellings', async () => {
    const at = new Date('2026-01-02T03:04:05Z')
    const { send, rows } = await open({ rows: [{ id: 1, title: 'old', at, isOpen: true }] })
    const file = 'at,isOpen,title\r\n2026-01-02T05:04:05+02:00,true,new\r\n2026-01-02T03:04:05Z,false,other'
    expect((await send(file, 'mode=upsert&key=at,isOpen')).body.data).toEqual({ created: 1, updated: 1 })
    expect(rows().map(({ at, title }) => [at, title])).toEqual([[at.getTime(), 'new'], [at.getTime(), 'other']])
  })

  it('finds the records again if another request creates and deletes some of them', async () => {
    const once = vi.fn().mockImplementationOnce(() => client.exec('insert into posts (slug) values (\'c\'); delete from posts where slug = \'a\''))
    const { send, rows } = await open({ rows: ROWS, hooks: { beforeUpdate: () => void once() } })
    expect((await send('slug,title\r\na,new a\r\nb,new b\r\nc,new c', 'mode=upsert&key=slug')).body.data).toEqual({ created: 1, updated: 2 })
    expect(rows().map(({ slug, title }) => [slug, title])).toEqual([['b', 'new b'], ['gone', 'untitled'], ['c', 'new c'], ['a', 'new a']])
  })

  it.each<[what: string, file: string, query: string, errors: unknown]>([
    [
      'stands twice in the file',
      'slug,title\r\na,1\r\nx,2\r\na,3',
      'key=slug',
      [
        { line: 2, code: 'CONFLICT' },
        { line: 4, code: 'CONFLICT' },
      ],
    ],
    ['meets two records', 'title,views\r\nold,1\r\nsame,2', 'key=title', [{ line: 3, code: 'CONFLICT' }]],
    ['meets a record in the trash', 'slug,title\r\na,1\r\ngone,2', 'key=slug', [{ line: 3, code: 'CONFLICT' }]],
    ['does not fit', 'views,title\r\nx,1', 'key=views', [{ line: 2, code: 'VALIDATION_FAILED' }]],
  ])('is refused if a key %s', async (_what, file, query, errors) => {
    const { send, rows } = await open({ rows: [...ROWS, { id: 4, title: 'same' }, { id: 5, title: 'same' }] })
    const before = rows()
    expect(await send(file, `mode=upsert&${query}`)).toMatchObject({ code: 'BULK_FAILED', errors })
    expect(rows()).toEqual(before)
  })

  it.each([
    ['the table', undefined],
    ['a schema', { update: z.object({ name: z.string().optional(), note: z.string().nullish() }) }],
  ])('reports an empty cell of a column that can neither be NULL nor has a default, by %s', async (_by, validation) => {
    const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull(), note: text('note') })
    client = new Database(':memory:')
    client.exec('create table tags (id integer primary key, name text not null, note text); insert into tags values (1, \'a\', \'old\')')
    const server = await createServer({
      db: drizzle({ client }),
      plugins: [dataExport()],
      registrations: [
        { name: 'tags', schema: tags, validation, authorization: { permissions: { read: true, create: true, update: true } } },
      ],
    })
    const send = async (raw: string, query: string) =>
      (await server.request('POST', `/api/tags/import?${query}`, { raw, headers: { 'content-type': CSV } })).body
    const problem = (line: number) => ({ line, code: 'VALIDATION_FAILED', issues: [{ path: ['name'] }] })
    expect((await send('id,name,note\r\n1,,new\r\n2,,new\r\n3,c,new', 'mode=upsert')).data.errors).toMatchObject([problem(2), problem(3)])
    expect((await send('name,note\r\n,new', '')).data.errors).toMatchObject([problem(2)])
    expect(client.prepare('select * from tags').all()).toEqual([{ id: 1, name: 'a', note: 'old' }])
    expect((await send('id,name,note\r\n1,b,', 'mode=upsert')).data).toEqual({ created: 0, updated: 1 })
    expect(client.prepare('select * from tags').all()).toEqual([{ id: 1, name: 'b', note: null }])
  })

  it('leaves an empty cell of a new record to the default of a schema', async () => {
    const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
    client = new Database(':memory:')
    client.exec('create table tags (id integer primary key, name text not null)')
    const server = await createServer({
      db: drizzle({ client }),
      plugins: [dataExport()],
      registrations: [
        {
          name: 'tags',
          schema: tags,
          validation: { create: z.object({ name: z.string().default('made') }) },
          authorization: { permissions: { create: true } },
        },
      ],
    })
    expect((await server.request('POST', '/api/tags/import', { raw: 'id,name\r\n1,\r\n', headers: { 'content-type': CSV } })).status).toBe(
      200,
    )
    expect(client.prepare('select name from tags').all()).toEqual([{ name: 'made' }])
  })

  it('answers as a create for a record that the caller cannot see, and with 403 for one that cannot be changed', async () => {
    const auth = {
      objectLevel: (row: { slug: string }, ctx: { operation: string }) =>
        row.slug !== 'a' && (ctx.operation !== 'update' || row.slug !== 'b'),
    } as never
    const { send } = await open({ rows: [...ROWS, { id: 4, slug: 'c', title: 'old b' }], auth })
    expect((await send('slug,title\r\na,1\r\nb,2', 'mode=upsert&key=slug')).errors).toMatchObject([{ line: 3, code: 'FORBIDDEN' }])
    const [upserted, created] = [await send('slug,title\r\na,1', 'mode=upsert&key=slug'), await send('slug,title\r\na,1')]
    expect([upserted.errors, upserted.errors?.[0]?.code]).toEqual([created.errors, 'CONFLICT'])
    expect((await send('title,views\r\nold a,1', 'mode=upsert&key=title')).body.data).toEqual({ created: 1, updated: 0 })
    expect((await send('title,views\r\nold b,1', 'mode=upsert&key=title')).errors).toMatchObject([
      { line: 2, message: 'Several records have this key.' },
    ])
  })

  it('needs `create` for new records only, and `update` for existing ones only', async () => {
    const { send } = await open({ rows: ROWS })
    const as = (...permissions: string[]) => ({ caller: { user: { id: 1 }, permissions } })
    expect((await send('slug,title\r\na,1', 'mode=upsert&key=slug', as('update'))).status).toBe(200)
    expect((await send('slug,title\r\na,1\r\nn,1', 'mode=upsert&key=slug', as('update'))).status).toBe(403)
    expect((await send('slug,title\r\nn,1', 'mode=upsert&key=slug', as('create'))).status).toBe(200)
    expect((await send('slug,title\r\na,1', 'mode=upsert&key=slug', as('create'))).status).toBe(403)
    expect((await send('slug,title\r\na,1', 'mode=upsert&key=slug', as())).status).toBe(403)
    expect((await send('slug,title\r\nz,1', '', as('update'))).status).toBe(403)
  })

  it('cannot use a key that the caller cannot read', async () => {
    const { send } = await open({ rows: ROWS, auth: { fields: { slug: { read: 'admin' } } } as never })
    expect((await send('slug,title\r\na,1', 'mode=upsert&key=slug')).code).toBe('UNKNOWN_FIELD')
    expect((await send('slug,title\r\na,1', 'mode=upsert&key=nothing')).code).toBe('UNKNOWN_FIELD')
  })
})

it('updates no record that requires `If-Match`, and refuses the header', async () => {
  const { send, server } = await open({ rows: [{ slug: 'a' }], requireIfMatch: true })
  expect((await send('slug,title\r\nb,1\r\na,2', 'mode=upsert&key=slug')).errors).toMatchObject([
    { line: 3, code: 'PRECONDITION_REQUIRED' },
  ])
  expect((await send('slug,title\r\nb,1')).status).toBe(200)
  expect(
    (
      await server.request('POST', '/api/posts/import', {
        raw: 'slug\r\nx',
        caller: EDITOR,
        headers: { 'content-type': CSV, 'if-match': '*' },
      })
    ).status,
  ).toBe(400)
})

describe('a dry run', () => {
  it('answers like the import, and writes nothing', async () => {
    const afterCreate = vi.fn()
    const { send, rows } = await open({ rows: [{ slug: 'a' }], hooks: { afterCreate } })
    expect((await send('slug,title\r\na,1\r\nb,2', 'mode=upsert&key=slug&dryRun=true')).body).toEqual({
      data: { created: 1, updated: 1 },
      meta: { total: 2 },
    })
    expect((await send('slug,title\r\nb,1\r\na,2', 'dryRun=true')).errors).toMatchObject([{ line: 3, code: 'CONFLICT' }])
    expect([rows().length, afterCreate.mock.calls.length]).toEqual([1, 0])
  })
})

it('with many columns is read in time that grows with their number', async () => {
  const { send } = await open()
  const names = Array.from({ length: 150_000 }, (_, index) => index.toString(36))
  const start = performance.now()
  expect((await send(`${names.join()},a\r\n1\r\n`)).errors).toMatchObject([{ line: 1 }])
  // Comparing each name with all others takes more than 20 seconds.
  expect(performance.now() - start).toBeLessThan(8000)
}, 120_000)

it('with many empty lines is refused before they take time', async () => {
  const { send } = await open()
  expect((await send(`slug,title\n${'\n'.repeat(5000)}a,b\n`)).status).toBe(200)
  const start = process.cpuUsage()
  expect((await send(`slug,title\n${'\n'.repeat(100_000)}`)).code).toBe('LIMIT_EXCEEDED')
  // Reading all of them takes more than 3 seconds, and much longer if the parser gets them at once.
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(2000)
}, 60_000)

it('10,000 records with one bad line are refused, and imported without it', async () => {
  const { send, rows } = await open()
  const file = (bad: boolean) =>
    `slug,title,views\r\n${Array.from({ length: 10_000 }, (_, index) => `s${index},title ${index},${bad && index === 7777 ? 'x' : index}`).join('\r\n')}`
  expect((await send(file(true))).errors).toMatchObject([{ line: 7779 }])
  expect(rows()).toEqual([])
  const start = performance.now()
  expect((await send(file(false))).body).toEqual({ data: { created: 10_000, updated: 0 }, meta: { total: 10_000 } })
  console.info(`10,000 records imported in ${Math.round(performance.now() - start)} ms`)
  expect(rows()).toHaveLength(10_000)
}, 60_000)

it('with many columns is refused, because each of its records would need much memory', async () => {
  const { send, rows } = await open()
  const names = Array.from({ length: 2000 }, (_, index) => index.toString(36))
  const line = ','.repeat(names.length - 1)
  const before = process.memoryUsage().rss
  const { errors, status } = await send(`${names.join()}\n${`${line}\n`.repeat(5000)}`)
  expect([status, errors, rows().length]).toEqual([
    400,
    [expect.objectContaining({ line: 1, message: 'The file has too many columns.' })],
    0,
  ])
  expect((process.memoryUsage().rss - before) / 1024 ** 2).toBeLessThan(300)
}, 60_000)

describe('a key that many records have', () => {
  it('is a problem of its line, without reading all of them', async () => {
    const { send, rows } = await open()
    client.exec(
      'with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000) insert into posts (title) select \'same\' from n; insert into posts (slug, title) values (\'x\', \'other\')',
    )
    const start = performance.now()
    const { errors, status } = await send('slug,title\r\na,same\r\nb,other\r\nc,new\r\n', 'mode=upsert&key=title')
    expect([status, errors]).toEqual([409, [{ line: 2, statusCode: 409, code: 'CONFLICT', message: 'Several records have this key.' }]])
    // Reading all of them took time that grew with the square of their number.
    expect(performance.now() - start).toBeLessThan(5000)
    expect(rows()).toHaveLength(100_001)
  })

  it('needs only the permission to update', async () => {
    const { send } = await open({ rows: [{ title: 'same' }, { title: 'same' }] })
    const caller = { user: { id: 1 }, permissions: ['update'] }
    expect((await send('title,views\r\nsame,1\r\n', 'mode=upsert&key=title', { caller })).errors).toMatchObject([
      { line: 2, code: 'CONFLICT' },
    ])
  })
})

it('of few large records lets other requests run between them', async () => {
  const { send } = await open({ options: { maxImportValues: 10_000_000 } })
  const line = `{"slug":null,"meta":[${'{},'.repeat(150_000)}0]}\n`
  let turns = 0
  let isRunning = true
  const count = () => {
    turns++
    if (isRunning) setImmediate(count)
  }
  count()
  expect((await send(line.repeat(30), 'dryRun=true', { type: NDJSON })).status).toBe(200)
  isRunning = false
  // Each record is read in one turn, and checked in another one.
  console.info(`30 large records in ${turns} turns of the event loop`)
  expect(turns).toBeGreaterThan(10)
}, 60_000)
