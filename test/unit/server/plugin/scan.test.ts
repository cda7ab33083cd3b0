/** `scan()` of a plugin's server: the same records as the list route, in batches, under the same rules. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { eq } from 'drizzle-orm'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ResourceAuth, ResourceRegistration } from '../../../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../../../src/runtime/shared/config'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../../../../src/runtime/shared/defaults'
import { LIMITS } from '../../../../src/runtime/shared/limits'
import { createServer, type Caller } from '../../../support/server'
import { scanner } from '../../../support/scan'

const authors = sqliteTable('authors', { id: integer('id').primaryKey(), name: text('name').notNull(), email: text('email') })
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull(),
  rank: integer('rank'),
  secret: text('secret'),
  authorId: integer('author_id').references(() => authors.id),
  at: integer('at', { mode: 'timestamp_ms' }),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})

let client: Database.Database
let statements: string[]
afterEach(() => {
  vi.restoreAllMocks()
  client.close()
})

interface Options {
  count?: number
  auth?: ResourceAuth
  hooks?: ResourceRegistration['hooks']
  gate?: string
  config?: Partial<AutoApiConfig>
}

/** So many posts: every fifth belongs to the other organization, every seventh is in the trash. */
async function open({ count = 1200, auth, hooks, gate, config }: Options = {}) {
  client = new Database(':memory:')
  client.exec(`
    create table authors (id integer primary key, name text not null, email text);
    create table posts (id integer primary key, organization_id integer not null, title text not null, rank integer, secret text, author_id integer, at integer, deleted_at integer);
    insert into authors values (1, 'Ann', 'a@x'), (2, 'Ben', 'b@x'), (3, 'Cas', 'c@x');
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      insert into posts select i, case when i % 5 = 0 then 2 else 1 end, 'post ' || i, case when i % 3 = 0 then null else i % 7 end, 'secret ' || i, i % 4, i * 1000, case when i % 7 = 0 then 1 end from n;
  `)
  statements = []
  const server = await createServer({
    db: drizzle({ client, logger: { logQuery: sql => void statements.push(sql) } }),
    registrations: [
      {
        name: 'posts',
        schema: posts,
        hiddenFields: ['secret'],
        hooks,
        authorization: { permissions: { read: 'reader', viewDeleted: 'editor' }, ...auth } as ResourceAuth,
      },
      { name: 'authors', schema: authors, authorization: { permissions: { read: true }, fields: { email: { read: 'admin' } } } },
    ],
    config: { multiTenancy: { ...DEFAULT_MULTI_TENANCY, excludedResources: ['authors'] }, ...config },
    plugins: [scanner(gate)],
  })
  const get = (path: string, caller: Caller = READER) => server.request('GET', `/api/${path}`, { caller })
  return {
    get,
    server,
    /** The batches. */
    scan: async (query = '', caller = READER) => {
      const { status, body } = await get(`scan/posts?${query}`, caller)
      expect([status, body]).toEqual([200, expect.any(Array)])
      return body as Record<string, unknown>[][]
    },
    /** The records of all pages of the list route. */
    list: async (query = '', caller = READER) => {
      const records: unknown[] = []
      for (let page = 1; ; page++) {
        const { status, body } = await get(`posts?${query}&limit=100&page=${page}`, caller)
        expect(status).toBe(200)
        records.push(...body.data)
        if (records.length >= body.meta.total) return records
      }
    },
  }
}

const READER: Caller = { user: { id: 1, organizationId: 1 }, permissions: ['reader'] }
const EDITOR: Caller = { user: { id: 1, organizationId: 1 }, permissions: ['reader', 'editor'] }

describe('a scan', () => {
  it.each([
    ['', READER],
    ['sort=-rank', READER],
    ['sort=rank,-title&fields=id,title', READER],
    ['filter[rank][$gte]=3&sort=title', READER],
    ['filter[title][$like]=%251%25', READER],
    ['include=author', READER],
    ['include=author&fields=title&sort=-at', READER],
    ['includeDeleted=true', EDITOR],
    ['onlyDeleted=true&sort=rank', EDITOR],
  ])('returns the records of the list, in its order: %s', async (query, caller) => {
    const { scan, list } = await open()
    const batches = await scan(query, caller)
    expect(batches.length).toBeGreaterThan(query.startsWith('only') || query.startsWith('filter') ? 0 : 1)
    expect(batches.flat()).toEqual(await list(query, caller))
  })

  it('returns the records that objectLevel and listFilter accept', async () => {
    const { scan, list } = await open({
      auth: { listFilter: table => eq((table as typeof posts).rank, 1), objectLevel: row => Number(row.id) % 2 === 0 },
    })
    const records = (await scan('sort=-id')).flat()
    expect(records.length).toBeGreaterThan(30)
    expect(records).toEqual(await list('sort=-id'))
  })

  it('is empty without visible rows', async () => {
    const { scan } = await open()
    expect(await scan('', { user: { id: 1, organizationId: 9 }, permissions: ['reader'] })).toEqual([])
  })

  it('contains no hidden and no unreadable fields, of included records neither', async () => {
    const [batch] = await (await open({ count: 10 })).scan('include=author')
    expect(Object.keys(batch![0]!)).not.toContain('secret')
    expect(batch![0]!.author).toEqual({ id: 1, name: 'Ann' })
  })

  it('runs one statement per batch, and none beyond the last row', async () => {
    const { scan } = await open({ count: 1200, config: { multiTenancy: false } })
    statements.length = 0
    expect((await scan('includeDeleted=true', EDITOR)).map(batch => batch.length)).toEqual([25, 500, 500, 175])
    expect(statements).toHaveLength(4)
  })

  it('reads few rows before it knows their size, and large rows in smaller batches', async () => {
    const { scan } = await open({ count: 1200, config: { multiTenancy: false, http: { ...DEFAULT_CONFIG.http, maxResponseSize: 1e9 } } })
    client.exec('update posts set title = title || hex(zeroblob(50000))')
    const [first, ...later] = (await scan('includeDeleted=true&filter[id][$lte]=600', EDITOR)).map(batch => batch.length)
    expect([first, Math.max(...later) <= 42]).toEqual([25, true])
  })

  it('has the budget for included records in each batch, which is not longer than a page', async () => {
    const config = { relations: { ...DEFAULT_CONFIG.relations, maxRows: 100 }, pagination: { ...DEFAULT_CONFIG.pagination, maxLimit: 100 } }
    const batches = await (await open({ config })).scan('include=author')
    expect(batches.length).toBeGreaterThan(5)
    expect(Math.max(...batches.map(batch => batch.length))).toBe(100)
  })
})

describe('a scan is refused', () => {
  it.each<[why: string, path: string, caller: Caller, outcome: unknown]>([
    ['for an anonymous caller', 'scan/posts', { tenantId: 1 }, [401, 'UNAUTHENTICATED']],
    ['without the permission', 'scan/posts', { user: { id: 1, organizationId: 1 }, permissions: [] }, [403, 'FORBIDDEN']],
    ['without a tenant', 'scan/posts', { user: { id: 1 }, permissions: ['reader'] }, [403, 'TENANT_REQUIRED']],
    ['for the trash without the permission', 'scan/posts?onlyDeleted=true', READER, [403, 'FORBIDDEN']],
    ['for an unknown field', 'scan/posts?fields=colour', READER, [400, 'UNKNOWN_FIELD']],
    ['for a hidden field', 'scan/posts?sort=secret', READER, [400, 'UNKNOWN_FIELD']],
    ['for an unknown relation', 'scan/posts?include=editor', READER, [400, 'UNKNOWN_RELATION']],
    ...['page', 'limit', 'cursor', 'cursorFields', 'count', 'aggregate', 'groupBy', 'having'].map(
      (name): [string, string, Caller, unknown] => [`with \`${name}\``, `scan/posts?${name}=1`, READER, [400, 'INVALID_QUERY']],
    ),
    ['with a page before the permission is checked', 'scan/posts?page=1', { tenantId: 1 }, [401, 'UNAUTHENTICATED']],
  ])('%s', async (_why, path, caller, outcome) => {
    const { get } = await open({ count: 3 })
    for (const route of [path, path.replace('scan/', 'lines/')]) {
      const { status, body } = await get(route, caller)
      expect([status, body.data.code]).toEqual(outcome)
    }
  })

  it('after a limited number of checked rows under objectLevel', async () => {
    const { get } = await open({ count: LIMITS.scan + 10, auth: { objectLevel: () => false }, config: { multiTenancy: false } })
    const { status, body } = await get('scan/posts?includeDeleted=true', EDITOR)
    expect([status, body.data.code]).toEqual([400, 'LIMIT_EXCEEDED'])
  })
})

describe('the named gate of a scan', () => {
  const auth = {
    permissions: { read: 'reader', viewDeleted: 'editor' },
    custom: { export: { permissions: { read: 'exporter' } } },
  } as const
  const EXPORTER: Caller = { user: { id: 1, organizationId: 1 }, permissions: ['exporter'] }

  it('decides instead of the read permission', async () => {
    const { get } = await open({ count: 3, auth, gate: 'export' })
    expect([(await get('scan/posts', EXPORTER)).status, (await get('scan/posts', READER)).status]).toEqual([200, 403])
    expect((await get('scan/posts?onlyDeleted=true', EXPORTER)).status).toBe(403)
  })

  it('does not exist on every resource: then the read permission decides', async () => {
    const { get } = await open({ count: 3, gate: 'export' })
    expect([(await get('scan/posts', EXPORTER)).status, (await get('scan/posts', READER)).status]).toEqual([403, 200])
  })
})

describe('the hooks of a scan', () => {
  it('are beforeList once, and afterList for each batch', async () => {
    const beforeList = vi.fn()
    const afterList = vi.fn((records: readonly Record<string, unknown>[]) =>
      records.map(record => ({ ...record, title: 'redacted', secret: 'added' })),
    )
    const { scan } = await open({ hooks: { beforeList, afterList } })
    const batches = await scan('')
    expect([beforeList.mock.calls.length, afterList.mock.calls.length]).toEqual([1, batches.length])
    for (const record of batches.flat()) expect([record.title, 'secret' in record, typeof record.at]).toEqual(['redacted', false, 'string'])
  })

  it('can refuse the scan before its first byte', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { get } = await open({ hooks: { beforeList: () => {
      throw new Error('not now')
    } } })
    expect((await get('lines/posts')).status).toBe(500)
  })
})

describe('a streamed scan', () => {
  it('runs a statement only when the client asks for more', async () => {
    const { server } = await open({ count: 20_000, config: { multiTenancy: false } })
    statements.length = 0
    const response = await server.fetch(new Request('http://localhost/api/lines/posts?includeDeleted=true'), EDITOR)
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(statements).toHaveLength(1)
    const reader = response.body!.getReader()
    await reader.read()
    await reader.read()
    expect(statements.length).toBeLessThanOrEqual(3)
    await reader.cancel()
    await new Promise(resolve => setTimeout(resolve, 50))
    const atEnd = statements.length
    await new Promise(resolve => setTimeout(resolve, 50))
    expect([statements.length, atEnd <= 3]).toEqual([atEnd, true])
  })

  it('lets other requests run between its batches', async () => {
    const { get } = await open({ count: 20_000, config: { multiTenancy: false } })
    const finished: string[] = []
    const scanning = get('scan/posts?includeDeleted=true', EDITOR).then(() => finished.push('scan'))
    await get('posts/1').then(() => finished.push('get'))
    await scanning
    expect(finished).toEqual(['get', 'scan'])
  })
})
