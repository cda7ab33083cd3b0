/** Prepared statements with names, on a connection of node-postgres whose statements the test can list. */
import BetterSqlite3 from 'better-sqlite3'
import { drizzle as betterSqlite3 } from 'drizzle-orm/better-sqlite3'
import { drizzle } from 'drizzle-orm/node-postgres'
import { drizzle as postgresJs } from 'drizzle-orm/postgres-js'
import fc from 'fast-check'
import pg from 'pg'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createDatabase } from '../../src/runtime/server/core/replicas/database'
import { createEngine } from '../../src/runtime/server/engines/index'
import { createPreparedNames } from '../../src/runtime/server/engines/prepared-names'
import { createServer, type TestServer } from '../support/server'
import { isReachable, SERVICES } from '../support/services'
import { DEFAULT_MULTI_TENANCY } from '../../src/runtime/shared/defaults'
import { TestPool } from './support/test-pool'
import { OURS, POSTS_SQL, REGISTRATIONS } from './support/replicated-posts'

const service = SERVICES.find(({ name }) => name === 'postgres')!
const hasPostgres = await isReachable(service)
const NAME = `auto_api_prepared_${process.pid}`
const at = (database: string) => ({ host: '127.0.0.1', port: 5432, user: 'postgres', database })

const start = (db: object, prepare: boolean) => createServer({
  db, engine: 'postgres', databaseOptions: { prepare }, config: { multiTenancy: DEFAULT_MULTI_TENANCY }, registrations: [...REGISTRATIONS],
})

describe.skipIf(!hasPostgres)('prepare', () => {
  let admin: pg.Client
  let pool: pg.Pool
  const prepared = async () =>
    (await pool.query<{ name: string }>(`select name from pg_prepared_statements where name like 'auto_api%'`)).rows

  beforeAll(async () => {
    admin = new pg.Client(at('postgres'))
    await admin.connect()
    await admin.query(`create database ${NAME}`)
    const client = new pg.Client(at(NAME))
    await client.connect()
    await client.query(`${POSTS_SQL}; drop view seen, slow;
      insert into posts (organization_id, title) select 1, 'post ' || n from generate_series(1, 50) as n`)
    await client.end()
  })
  beforeEach(() => {
    pool = new TestPool({ ...at(NAME), max: 1 })
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    await pool.end()
  })
  afterAll(async () => {
    await admin?.query(`drop database if exists ${NAME} with (force)`)
    await admin?.end()
  })

  const list = async (server: TestServer, query = '') => {
    const { status, body } = await server.request('GET', `/api/posts${query}`, { caller: OURS })
    expect(status).toBe(200)
    return body as { data: { id: number, title: string }[] }
  }
  const repeat = async (times: number, run: () => Promise<unknown>) => {
    for (let count = 0; count < times; count++) await run()
  }

  it('names statements that are repeated, and no others', async () => {
    const server = await start(drizzle({ client: pool }), true)
    await repeat(3, () => list(server, '?limit=2&count=none'))
    expect(await prepared()).toEqual([])
    await repeat(3, () => list(server, '?limit=2&count=none'))
    expect(await prepared()).toHaveLength(1)
    // The same statement with other values.
    expect((await list(server, '?limit=3&count=none')).data).toHaveLength(3)
    expect(await prepared()).toHaveLength(1)
  })

  it('names none without the option', async () => {
    const server = await start(drizzle({ client: pool }), false)
    await repeat(6, () => list(server))
    expect(await prepared()).toEqual([])
  })

  it('returns the same rows as without names, for random queries', async () => {
    const [named, plain] = [await start(drizzle({ client: pool }), true), await start(drizzle({ client: pool }), false)]
    const queries = fc.record({
      limit: fc.integer({ min: 1, max: 60 }),
      page: fc.integer({ min: 1, max: 3 }),
      sort: fc.constantFrom('id', '-id', 'title', '-title,id'),
      filter: fc.constantFrom('{}', '{"title":{"$like":"%1%"}}', '{"id":{"$gt":20}}', '{"id":{"$in":[1,2,3,40]}}'),
      include: fc.constantFrom('', 'comments'),
    })
    await fc.assert(fc.asyncProperty(queries, async ({ include, ...parameters }) => {
      const query = `?${new URLSearchParams({ ...Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)])), ...(include && { include }) })}`
      for (let count = 0; count < 2; count++) expect(await list(named, query)).toEqual(await list(plain, query))
    }), { numRuns: 100 })
    expect((await prepared()).length).toBeGreaterThan(5)
  })

  it('names at most 256 statements, whatever clients send', async () => {
    const server = await start(drizzle({ client: pool }), true)
    for (let size = 1; size <= 20; size++) {
      const filter = encodeURIComponent(JSON.stringify({ $or: Array.from({ length: size }, (_, index) => ({ id: index })) }))
      for (const sort of ['id', '-id', 'title', '-title', 'title,-id']) {
        for (const fields of ['id', 'title', 'version'])
          await repeat(4, () => list(server, `?count=none&fields=${fields}&sort=${sort}&filter=${filter}`))
      }
    }
    expect(await prepared()).toHaveLength(256)
    expect((await list(server, '?limit=2')).data).toHaveLength(2)
  }, 60_000)

  it('survives a migration', async () => {
    const server = await start(drizzle({ client: pool }), true)
    await repeat(6, () => list(server, '?limit=2&count=none'))
    await pool.query('alter table posts alter column title type varchar(400)')
    expect((await list(server, '?limit=2&count=none')).data).toHaveLength(2)
    await repeat(6, () => list(server, '?limit=2&count=none'))
    expect((await prepared()).map(({ name }) => name.slice(0, 11))).toContain('auto_api_1_')
  })

  it('goes on naming after a migration during many requests', async () => {
    const many = new TestPool({ ...at(NAME), max: 20 })
    try {
      const server = await start(drizzle({ client: many }), true)
      const all = () => Promise.all(Array.from({ length: 40 }, () => list(server, '?limit=2&count=none')))
      await repeat(3, all)
      await pool.query('alter table posts alter column title type varchar(500)')
      for (const { data } of await all()) expect(data).toHaveLength(2)
      await repeat(3, all)
      // Each connection has statements of its own.
      const found = await Promise.all(
        Array.from({ length: 20 }, () => many.query(`select 1 from pg_prepared_statements where name like 'auto_api_1_%'`)),
      )
      expect(found.flatMap(({ rows }) => rows).length).toBeGreaterThan(0)
    }
    finally {
      await many.end()
    }
  })

  it('keeps its names after an error that a statement has without a name too', async () => {
    const engine = createEngine('postgres', drizzle({ client: pool }), { prepare: true })
    // Postgres refuses it with the same state as an outdated plan.
    const refused = { text: 'select 1 union select 2 for update', values: [] }
    await repeat(10, async () => await expect(engine.query(refused)).rejects.toThrow())
    await repeat(6, async () => await engine.query({ text: 'select 1', values: [] }))
    expect((await prepared()).map(({ name }) => name.slice(0, 11))).toEqual(['auto_api_0_'])
  })

  it('renews its names once for the errors of one migration', () => {
    const names = createPreparedNames()
    const name = Array.from({ length: 4 }, () => names.nameOf('select 1')).at(-1)!
    const error = Object.assign(new Error('cached plan must not change result type'), { code: '0A000' })
    for (let count = 0; count < 20; count++) names.renew(name, error)
    expect(Array.from({ length: 4 }, () => names.nameOf('select 1')).at(-1)).toMatch(/^auto_api_1_/)
  })

  it('stops naming when the connection has lost the statements, and says so once', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const server = await start(drizzle({ client: pool }), true)
    await repeat(6, () => list(server, '?limit=2&count=none'))
    await pool.query('deallocate all')
    await repeat(6, async () => expect((await list(server, '?limit=2&count=none')).data).toHaveLength(2))
    expect(await prepared()).toEqual([])
    expect(warn.mock.calls.map(([message]) => String(message))).toEqual([expect.stringContaining('Remove `prepare`')])
  })

  it('never names a statement of a commit', async () => {
    const server = await start(drizzle({ client: pool }), true)
    await repeat(6, async () => {
      const { status } = await server.request('PATCH', '/api/posts/1', { caller: OURS, body: { title: 'again' } })
      expect(status).toBe(200)
    })
    const texts = (await pool.query<{ statement: string }>(`select statement from pg_prepared_statements where name like 'auto_api%'`)).rows
    expect(texts.filter(({ statement }) => !/^\s*select/i.test(statement) || / for (?:share|update|no key)/.test(statement))).toEqual([])
  })

  it.each([
    ['postgres.js', 'postgres', () => postgresJs({ client: postgres({ ...at(NAME), max: 1 }) })],
    ['better-sqlite3', 'better-sqlite3', () => betterSqlite3({ client: new BetterSqlite3(':memory:') })],
  ] as const)('is refused for %s', (_, engine, open) => {
    expect(() => createDatabase().initialize(open(), engine, { prepare: true })).toThrow('`prepare` requires drizzle-orm/node-postgres.')
  })

  it('refuses other values', () => {
    expect(() => createDatabase().initialize(drizzle({ client: pool }), 'postgres', { prepare: 1 as never })).toThrow(
      '`prepare` must be `true` or `false`.',
    )
  })
})
