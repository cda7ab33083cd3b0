/** Requests beyond the limits of D1 return the same responses as on SQLite. */
import Database from 'better-sqlite3'
import { drizzle as overSqlite } from 'drizzle-orm/better-sqlite3'
import { drizzle as overD1 } from 'drizzle-orm/d1'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { sql, type SQL } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parameterize } from '../../../../src/runtime/server/core/sql/parameterize'
import { sqliteLike as like } from '../../../../src/runtime/server/core/sql/like/sqlite'
import { createEngine } from '../../../../src/runtime/server/engines/index'
import { createField } from '../../../../src/runtime/server/schema/field'
import { openD1, type LocalD1 } from '../../../support/d1'
import { createServer, type TestServer } from '../../../support/server'

const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })
const WIDE = Array.from({ length: 19 }, (_, index) => `c${index}`)
const roots = sqliteTable('roots', {
  ...Object.fromEntries(WIDE.map(name => [name, text(name)])),
  id: integer().primaryKey(),
  code: text().unique(),
  ...trash(),
})
const child = <N extends string>(name: N) =>
  sqliteTable(name, { id: integer().primaryKey(), rootId: integer('root_id').references(() => roots.id), ...trash() })
const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map(child) as [ReturnType<typeof child<'a'>>, ...ReturnType<typeof child<'a'>>[]]
/** References a column that is not a primary key. */
const f = sqliteTable('f', { id: integer().primaryKey(), rootCode: text('root_code').references(() => roots.code), ...trash() })
const leaves = sqliteTable('leaves', {
  id: integer().primaryKey(),
  bId: integer('b_id').references(() => b!.id),
  parentId: integer('parent_id'),
  ...trash(),
})
const tables = { roots, a, b, c, d, e, f, leaves }

const SCHEMA = `
  create table roots (id integer primary key, code text unique, ${WIDE.map(name => `${name} text`).join()}, deleted_at integer, deletion_id text);
  ${['a', 'b', 'c', 'd', 'e'].map(name => `create table ${name} (id integer primary key, root_id integer references roots(id), deleted_at integer, deletion_id text)`).join(';')};
  create table f (id integer primary key, root_code text references roots(code), deleted_at integer, deletion_id text);
  create table leaves (id integer primary key, b_id integer references b(id), parent_id integer, deleted_at integer, deletion_id text)
`
const ROWS = `
  insert into roots (id, code, c0) values (1, 'one', 'x'), (2, 'two', 'y'), (3, 'three', 'z');
  ${['a', 'b', 'c', 'd', 'e'].map(name => `insert into ${name} values (1, 1, null, null), (2, 1, null, null), (3, 2, null, null), (4, 1, 5, 'earlier'), (5, null, null, null)`).join(';')};
  insert into f values (1, 'one', null, null), (2, 'two', null, null), (3, null, null, null);
  insert into leaves values (1, 1, null, null, null), (2, 3, null, null, null), (3, 4, null, null, null)
`

const permissions = Object.fromEntries(['read', 'create', 'update', 'delete', 'restore', 'purge'].map(operation => [operation, true]))
const registrations = Object.entries(tables).map(([name, schema]) => ({ name, schema, authorization: { permissions } })) as never

let local: LocalD1
const client = new Database(':memory:')
let d1: TestServer
let sqlite: TestServer

beforeAll(async () => {
  local = await openD1()
  for (const script of [SCHEMA, ROWS]) {
    client.exec(script)
    await local.exec(script)
  }
  d1 = await createServer({ registrations, engine: 'd1', db: overD1(local.d1 as never) })
  sqlite = await createServer({ registrations, db: overSqlite({ client }) })
})

afterAll(async () => {
  client.close()
  await local.close()
})

/** Every row, without the group and the time of a delete, which differ from run to run. */
async function dumps() {
  const select = (name: string) =>
    `select *, deleted_at is null as active, case deletion_id when 'earlier' then 1 when null then 0 else 2 end as grouped from ${name} order by id`
  const told = (rows: readonly (readonly unknown[])[]) =>
    rows.map(row =>
      row
        .filter(value => typeof value !== 'string' || value.length !== 36)
        .filter(value => typeof value !== 'number' || value < 1_000_000_000_000),
    )
  const names = Object.keys(tables)
  const overD1 = await Promise.all(names.map(async (name): Promise<[string, unknown[][]]> => [name, told(await local.rows(select(name)))]))
  return {
    d1: Object.fromEntries(overD1),
    sqlite: Object.fromEntries(
      names.map((name): [string, unknown[][]] => [name, told(client.prepare(select(name)).raw().all() as unknown[][])]),
    ),
  }
}

async function both(method: string, path: string, body?: unknown) {
  const [one, other] = [await d1.request(method, path, { body }), await sqlite.request(method, path, { body })]
  expect(one.status, one.text).toBe(other.status)
  return { d1: one.body, sqlite: other.body }
}

describe('on D1', () => {
  it('creates a hundred records of twenty columns in one commit', async () => {
    const items = Array.from({ length: 100 }, (_, row) => ({
      id: 100 + row,
      ...Object.fromEntries(WIDE.map(name => [name, `${name} of ${row}`])),
    }))
    const answers = await both('POST', '/api/roots/bulk', { items })
    expect(answers.d1.meta.successful).toBe(100)
    expect(answers.d1).toEqual(answers.sqlite)
  })

  it('accepts a filter with a hundred conditions and a list of five hundred values', async () => {
    const many = {
      $or: Array.from({ length: 20 }, (_, index) => ({
        c0: { $ne: `n${index}`, $gte: 'a', $lt: '~', ...(index < 8 && { $like: 'c0' }) },
        id: { $gt: index },
      })),
    }
    const row = { id: { $in: Array.from({ length: 500 }, (_, index) => index), $gte: 0, $lte: 9999, $ne: 12_345 }, code: { $null: true } }
    const path = (filter: object) => `/api/roots?limit=100&filter=${encodeURIComponent(JSON.stringify(filter))}`
    for (const filter of [
      many,
      row,
      { ...row, ...Object.fromEntries(WIDE.flatMap(name => [[name, { $ne: 'x', $gt: 'a', $lt: 'd', $gte: 'b', $lte: 'd' }]])) },
    ]) {
      const answers = await both('GET', path(filter))
      expect(answers.d1.meta.total).toBeGreaterThan(0)
      expect(answers.d1).toEqual(answers.sqlite)
    }
  })

  it.each([
    '%a long text with more than fifty characters in it, or so',
    'A LONG%TEXT WITH MORE %HAN FIFTY CHARACTERS IN IT, OR%so%',
    'a long text with more than fifty characters in it, or\\%so',
    `${'%ää'.repeat(15)}%`,
    `%${'ä'.repeat(29)}%ä`,
  ])('a pattern may be longer than fifty bytes: %s', async (pattern) => {
    const rows = [
      'a long text with more than fifty characters in it, or so',
      'A long%text with more than fifty characters in it, or%so!',
      'ä'.repeat(30),
      'short',
    ]
    for (const [index, c0] of rows.entries()) await both('PATCH', `/api/roots/${100 + index}`, { c0 })
    const answers = await both('GET', `/api/roots?fields=id&filter=${encodeURIComponent(JSON.stringify({ c0: { $like: pattern } }))}`)
    expect(answers.d1).toEqual(answers.sqlite)
    expect(answers.d1.meta.total).toBeLessThan(4)
  })

  it('refuses a pattern with `_` of more than fifty bytes', async () => {
    const ask = (like: string) =>
      d1.request('GET', `/api/roots?fields=id&filter=${encodeURIComponent(JSON.stringify({ c0: { $like: like } }))}`)
    expect((await ask(`${'x'.repeat(49)}_`)).status).toBe(200)
    expect((await ask(`${'x'.repeat(50)}_`)).body.data).toEqual({ code: 'LIMIT_EXCEEDED', parameter: 'filter' })
  })

  it('deletes, restores and purges a cascade over more foreign keys than a compound has terms', async () => {
    const settled = async () => {
      const { d1, sqlite } = await dumps()
      expect(d1).toEqual(sqlite)
      return d1
    }
    const before = await settled()
    await both('DELETE', '/api/roots/1')
    const after = await settled()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'leaves']) expect(after[name], name).not.toEqual(before[name])
    await both('POST', '/api/roots/1/restore')
    expect(await settled()).toEqual(before)
    await both('DELETE', '/api/roots/1?force=true')
    const gone = await settled()
    expect(gone.leaves!.map(([id]) => id)).toEqual([2])
    expect(gone.f!.map(([id]) => id)).toEqual([2, 3])
  })
})

describe('a long pattern', () => {
  const database = new Database(':memory:')
  const engine = createEngine('better-sqlite3', overSqlite({ client: database }))
  const table = sqliteTable('texts', { value: text() })
  const field = createField(
    { name: 'value', column: table.value, kind: 'text', nullable: true, optional: true, generated: false } as never,
    0,
    () => ({ safeParse: () => ({ success: true }) }) as never,
  )
  database.exec('create table texts (value text)')
  afterAll(() => void database.close())

  it('matches the same rows as LIKE', async () => {
    const piece = fc.constantFrom('a', 'A', 'b', 'ä', 'Ä', '😀', '%', '_', '\\%', '\\_', '\\\\', '1', '0', '"')
    const letter = fc.constantFrom('a', 'A', 'b', 'ä', 'Ä', '😀', '%', '_', '\\', '1', '0', '"')
    const limits = fc.constantFrom(undefined, 0, 10)
    await fc.assert(
      fc.asyncProperty(
        limits,
        fc.array(piece, { maxLength: 8 }).map(pieces => pieces.join('')),
        fc.array(
          fc.array(letter, { maxLength: 8 }).map(letters => letters.join('')),
          { maxLength: 12 },
        ),
        async (limit, pattern, texts) => {
          const wild = /_/.test(pattern.replace(/\\./g, ''))
          if (wild && Buffer.byteLength(pattern) > (limit ?? Infinity))
            return void expect(() => like(field, pattern, limit)).toThrow('at most')
          const condition = like(field, pattern, limit)
          const { text, values } = engine.render(condition.getSQL())
          expect(values).toEqual(parameterize(engine, condition).values)
          database.exec('delete from texts')
          for (const value of [...texts, null, pattern]) database.prepare('insert into texts values (?)').run(value)
          const matches = database
            .prepare(`select value from texts where ${text} order by rowid`)
            .pluck()
            .all(...(values as string[]))
          expect(matches).toEqual(
            database.prepare('select value from texts where value like ? escape \'\\\' order by rowid').pluck().all(pattern),
          )
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('conditions that are nested too deeply for D1', () => {
  const nested = (depth: number) => Array.from({ length: depth }).reduce<SQL>(condition => sql`coalesce(${condition}, 0)`, sql`1`)
  const serve = (depth: number, ofClient = '1') => createServer({
    engine: 'd1',
    // Requests of this size are rare: the limits of the API are lower. So the condition of the client is replaced by a deep one.
    db: overD1({ prepare: (text: string) => local.d1.prepare(text.replace('"roots"."c0" <> ?', `"roots"."c0" <> ? or ${ofClient}`)) } as never),
    registrations: [{ name: 'roots', schema: roots, authorization: { permissions: { read: true }, listFilter: () => nested(depth) } }] as never,
  })

  it('are a 400 of the client whose conditions they are', async () => {
    const server = await serve(70, Array.from({ length: 120 }).reduce<string>(condition => `coalesce(${condition}, 0)`, '1'))
    expect((await server.request('GET', '/api/roots')).status).toBe(200)
    const { status, body } = await server.request('GET', '/api/roots?filter[c0][$ne]=q')
    expect([status, body.data.code, body.message]).toEqual([400, 'LIMIT_EXCEEDED', expect.stringContaining('nested too deeply')])
  })

  it('are an error of the app in its own row filter', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    expect((await (await serve(120)).request('GET', '/api/roots?filter[c0][$ne]=q')).status).toBe(500)
    expect(logged).toHaveBeenCalled()
    logged.mockRestore()
  })
})
