/** rateLimit: the key that a request is counted for, the limit of each operation, and errors of wrong options. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { rateLimit, type RateLimitOptions } from '../../../src/runtime/plugins'
import { createDatabase } from '../../../src/runtime/server/core/replicas/database'
import { createServices } from '../../../src/runtime/server/core/extensions/services'
import { createPluginServer } from '../../../src/runtime/server/plugin/server'
import type { getAutoApiContext } from '../../../src/runtime/server/utils'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { createServer, type Caller, type TestServer } from '../../support/server'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull(),
})

let client: Database.Database
afterEach(() => {
  client?.close()
  vi.restoreAllMocks()
})

async function open(
  limits: RateLimitOptions | readonly RateLimitOptions[],
  config: Partial<AutoApiConfig> = {},
  extra: Partial<Parameters<typeof createServer>[0]> = {},
): Promise<TestServer> {
  vi.spyOn(console, 'warn').mockImplementation(() => {})
  client = new Database(':memory:')
  client.exec('create table posts (id integer primary key, organization_id integer not null, title text not null)')
  return createServer({
    db: drizzle({ client }),
    registrations: [
      {
        name: 'posts',
        schema: posts,
        authorization: { permissions: { read: ctx => ctx.user !== null, create: ctx => ctx.user !== null } },
      },
    ],
    config: {
      multiTenancy: {
        enabled: true,
        tenantIdField: 'organizationId',
        userTenantField: 'organizationId',
        scopedResources: '*',
        excludedResources: [],
      },
      trustProxy: true,
      ...config,
    },
    // Loaded with the server: it has to know the errors of the server's own copy.
    plugins: [
      async () => {
        const loaded = await import('../../../src/runtime/plugins')
        return [limits].flat().map(options => loaded.rateLimit(options as RateLimitOptions))
      },
    ],
    ...extra,
  })
}

interface Asked { readonly from?: string, readonly as?: Caller, readonly headers?: Record<string, string> }

const list = async (server: TestServer, { from = '1.1.1.1', as, headers }: Asked = {}) =>
  (await server.request('GET', '/api/posts', { caller: as, headers: { 'x-forwarded-for': from, ...headers } })).status

async function lists(server: TestServer, ...asked: Asked[]): Promise<number[]> {
  const statuses: number[] = []
  for (const one of asked) statuses.push(await list(server, one))
  return statuses
}

const member = (id: unknown, organizationId = 1): Caller => ({ user: { id, organizationId } })

describe('requests are counted', () => {
  it('by address before the caller is resolved: refused requests count as well', async () => {
    const server = await open({ limit: 2 })
    expect(await lists(server, {}, { as: member(1) }, { as: member(2) }, { from: '2.2.2.2' })).toEqual([401, 200, 429, 401])
  })

  it('by user, from any address; anonymous callers by address', async () => {
    const server = await open({ limit: 1, by: 'user' })
    expect(
      await lists(server, { as: member(1) }, { as: member(1), from: '2.2.2.2' }, { as: member(2) }, {}, {}, { from: '2.2.2.2' }),
    ).toEqual([200, 429, 200, 401, 429, 401])
  })

  it('by a user that a context extender of the app finds', async () => {
    const { server } = await withExtender()
    expect(
      await lists(
        server,
        { headers: { authorization: 'ada' } },
        { headers: { authorization: 'ada' }, from: '2.2.2.2' },
        { headers: { authorization: 'ben' } },
      ),
    ).toEqual([200, 429, 200])
  })

  it('by tenant, for all of its users together', async () => {
    const server = await open({ limit: 2, by: 'tenant' })
    expect(await lists(server, { as: member(1) }, { as: member(2), from: '2.2.2.2' }, { as: member(1) }, { as: member(3, 2) }, {})).toEqual(
      [200, 200, 429, 200, 401],
    )
  })

  it('by the result of a function; by address without a result', async () => {
    const server = await open({ limit: 1, by: async ctx => ctx.event.headers.get('x-plan') })
    expect(
      await lists(
        server,
        { headers: { 'x-plan': 'free' } },
        { headers: { 'x-plan': 'free' }, from: '2.2.2.2' },
        { headers: { 'x-plan': 'paid' } },
        {},
        {},
      ),
    ).toEqual([401, 429, 401, 401, 429])
  })

  it('by keys that do not collide', async () => {
    const server = await open({ limit: 1, by: 'user' })
    const long = 'x'.repeat(200)
    expect(
      await lists(
        server,
        { from: '1.1.1.1' },
        { as: member('ip:1.1.1.1') },
        { as: member(`${long}a`) },
        { as: member(`${long}b`) },
        { as: member(`${long}a`) },
      ),
    ).toEqual([401, 200, 200, 200, 429])
  })

  it('together for all requests without an address', async () => {
    const server = await open({ limit: 1 }, { trustProxy: false })
    expect(await lists(server, { from: '1.1.1.1' }, { from: '2.2.2.2' })).toEqual([401, 429])
  })

  it('by the connection, although the headers and the object of another platform are there', async () => {
    const server = await open({ limit: 1 }, { trustProxy: false })
    const edge = (ip: string) => ({ as: { cloudflare: { env: {} } } as Caller, headers: { 'cf-connecting-ip': ip } })
    expect(await lists(server, edge('3.3.3.3'), edge('4.4.4.4'), { headers: { 'cf-connecting-ip': '5.5.5.5' } })).toEqual([401, 429, 429])
  })

  it('once, however often a handler resolves its caller', async () => {
    const { defineEventHandler } = await import('h3')
    const server = await open({ limit: 1 }, {}, { endpoints: async () => ({
      'GET /twice': defineEventHandler(async (event) => {
        const { getAutoApiContext: ask } = (await import('../../../src/runtime/server/utils')) as {
          getAutoApiContext: typeof getAutoApiContext
        }
        await ask(event)
        await ask(event)
        return { done: true }
      }),
    }) })
    const ask = () => server.request('GET', '/twice', { headers: { 'x-forwarded-for': '1.1.1.1' } })
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 429])
  })

  it('not when the function returns a value that cannot be a key', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const server = await open({ limit: 1, by: (() => ({ plan: 'free' })) as never })
    expect(await list(server)).toBe(500)
  })
})

async function withExtender() {
  const server = await open({ limit: 1, by: 'user' })
  const { addContextExtender } = await import('../../../src/runtime/server/utils/registrars')
  addContextExtender((ctx) => {
    const name = (ctx.event as { headers: Headers }).headers.get('authorization')
    if (name) ctx.user = { id: name, organizationId: 1 }
  })
  return { server }
}

describe('an operation', () => {
  const create = async (server: TestServer) =>
    (await server.request('POST', '/api/posts', { caller: member(1), body: { title: 'new' }, headers: { 'x-forwarded-for': '1.1.1.1' } }))
      .status

  it('with a limit of its own is counted separately', async () => {
    const server = await open({ limit: 2, operations: { create: { limit: 1 } } })
    expect([await create(server), await create(server), ...await lists(server, {}, {}, {})]).toEqual([201, 429, 401, 401, 429])
  })

  it('without a limit is never refused, and its responses have no RateLimit headers', async () => {
    const server = await open({ limit: 1, operations: { read: false } })
    expect(await lists(server, {}, {}, {})).toEqual([401, 401, 401])
    expect((await server.request('GET', '/api/posts')).headers.has('ratelimit')).toBe(false)
    expect([await create(server), await create(server)]).toEqual([201, 429])
  })
})

it('several limits are members of the same headers', async () => {
  const server = await open([{ name: 'burst', limit: 5, window: 1 }, { name: 'hourly', limit: 100, window: 3600 }])
  const { headers } = await server.request('GET', '/api/posts', { headers: { 'x-forwarded-for': '1.1.1.1' } })
  expect(headers.get('ratelimit-policy')).toBe('"burst";q=5;w=1, "hourly";q=100;w=3600')
  expect(headers.get('ratelimit')).toBe('"burst";r=4;t=1, "hourly";r=99;t=3600')
})

it('the limits of the documentation apply together, by address and by plan', async () => {
  const server = await open({}, {}, { plugins: [async () => (await import('./examples/limits')).default] })
  const ask = async (caller: Caller) =>
    (await server.request('GET', '/api/posts', { caller, headers: { 'x-forwarded-for': '1.1.1.1' } })).headers.get('ratelimit')
  const free = { user: { id: 1, organizationId: 1, plan: 'free' } }
  expect([await ask(free), await ask(free), await ask(member(2)), await ask(member(3))].map(lists => lists!.match(/r=\d+/g))).toEqual([
    ['r=19', 'r=999'],
    ['r=18', 'r=998'],
    ['r=17', 'r=999'],
    ['r=16', 'r=998'],
  ])
})

describe('a wrong option', () => {
  it.each<[object, string]>([
    [{ limit: 0 }, '`rateLimit.limit` is 0. Use a positive integer.'],
    [{ limit: '100' }, '`rateLimit.limit` is "100". Use a positive integer.'],
    [{ window: 0.5 }, '`rateLimit.window` is 0.5. Use a number of seconds'],
    [{ window: 60_000_000 }, '`rateLimit.window` is 60000000. Use a number of seconds, a positive integer up to 2678400.'],
    [{ by: 'header' }, '`rateLimit.by` is "header". Use `\'ip\'`, `\'user\'`, `\'tenant\'`, `\'token\'` or, in a server file, a function.'],
    [{ name: 'a"b' }, '`rateLimit.name` is "a\\"b". Use a name of letters, digits, `-` and `_`.'],
    [{ store: '' }, '`rateLimit.store` is "". Use the name of a storage of Nitro\'s'],
    [{ maxKeys: -1 }, '`rateLimit.maxKeys` is -1. Use a positive integer.'],
    [{ max: 5 }, '`rateLimit.max` is not an option. The options are name, limit, window, by, operations, store, maxKeys.'],
    [{ operations: { list: { limit: 1 } } }, '`rateLimit.operations.list` is not an operation. The operations are read,'],
    [{ operations: { read: 5 } }, '`rateLimit.operations.read` is 5. Use an object such as `{ limit: 10 }`, or `false`.'],
    [{ operations: { read: { limit: -5 } } }, '`rateLimit.operations.read.limit` is -5. Use a positive integer.'],
    [{ operations: { read: { by: 'user' } } }, '`rateLimit.operations.read.by` is not an option. The options are limit, window.'],
    [[], '`rateLimit` is given an empty list. Use an object of options.'],
    [
      { operations: { craete: false } },
      '`rateLimit.operations.craete` is not an operation. Did you mean `create`? The operations are read,',
    ],
  ])('throws when the plugin is created: %j', (options, message) => {
    expect(() => rateLimit(options)).toThrow(message)
  })
})

describe('a store', () => {
  const storage = (driver: object) => ({ getMount: () => ({ base: '', driver }) })

  const NO_STORAGE = createPluginServer({ services: createServices(),
    api: () => undefined as never, resources: new Map(), config: DEFAULT_CONFIG, useStorage: undefined, database: createDatabase(),
  })
  const setUp = (store: RateLimitOptions['store']) => () => rateLimit({ store }).setup!(NO_STORAGE)

  it('fails at startup when the storage does not exist', () => {
    expect(setUp('limits')).toThrow('rateLimit: Storage `limits` is not configured. Add it to `nitro.storage`')
  })

  it('fails at startup when its driver cannot count for several servers', () => {
    expect(setUp(storage({ name: 'fs' }))).toThrow(
      'has the driver `fs`, which cannot count for several servers at once. Use one of: redis, memory; or pass a counter of your own',
    )
    expect(setUp({} as never)).toThrow('`rateLimit.store` is neither a storage of unstorage nor a counter')
  })

  it('fails at startup when a server file passes a module import, which only the build replaces', () => {
    expect(setUp({ __moduleImport: true, path: '/app/store', name: 'store' })).toThrow(
      '`rateLimit.store` is a module import, which only works in nuxt.config. Import `store` and pass the value itself.',
    )
    expect(() => rateLimit({ by: { __moduleImport: true, path: '/app/plan', name: 'planOf' } }).setup!(NO_STORAGE)).toThrow(
      '`rateLimit.by` is a module import',
    )
  })

  it('in memory counts as without a store', async () => {
    expect(await lists(await open({ limit: 1, store: storage({ name: 'memory' }) }), {}, {})).toEqual([401, 429])
  })

  it('can be any counter', async () => {
    const hit = vi.fn(() => ({ count: 7, left: 1_500 }))
    const server = await open({ limit: 6, window: 2, store: { hit } })
    const { status, headers } = await server.request('GET', '/api/posts', { headers: { 'x-forwarded-for': '1.1.1.1' } })
    expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 429, retryAfter: '2' })
    expect(hit).toHaveBeenCalledWith('rate-limit:rate-limit:*:ip:1.1.1.1', 2000)
  })
})
