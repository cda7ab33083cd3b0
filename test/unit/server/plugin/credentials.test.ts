/**
 * Callers that plugins recognize by a credential: which source decides, what can change the caller, errors, and writes from other sites.
 */
import Database from 'better-sqlite3'
import { DrizzleQueryError } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import fc from 'fast-check'
import { createError, defineEventHandler, type EventHandler } from 'h3'
import { z } from 'zod'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AutoApiContext, AutoApiPlugin, CredentialCaller, FindCredentialCaller } from '../../../../src/runtime/server/define'
import { betterAuth } from '../../../../src/runtime/plugins'
import { DEFAULT_MULTI_TENANCY } from '../../../../src/runtime/shared/defaults'
import { createServer, type Caller, type TestServer } from '../../../support/server'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull(),
})
const notes = sqliteTable('notes', { id: integer('id').primaryKey(), body: text('body').notNull() })

/** The caller of the session: another user of another organization, who may do everything. */
const SESSION: Caller = { user: { id: 1, organizationId: 1, role: 'admin' }, permissions: ['*'], tenantId: 1 }
const ROBOT: CredentialCaller = { user: { id: 9, organizationId: 2, permissions: ['posts'] } }

let client: Database.Database
afterEach(() => {
  client?.close()
  vi.restoreAllMocks()
})

const utils = () => import('../../../../src/runtime/server/utils/index')

interface Seen { user: unknown, permissions: unknown, tenant: unknown, keys?: unknown }
const see = ({ user, permissions, tenant }: AutoApiContext): Seen => ({ user, permissions, tenant })

async function open(
  plugins: readonly (AutoApiPlugin | (() => Promise<AutoApiPlugin>))[],
  endpoints?: () => Promise<Record<string, EventHandler>>,
): Promise<TestServer> {
  client = new Database(':memory:')
  client.exec(`
    create table posts (id integer primary key, organization_id integer not null, title text not null);
    create table notes (id integer primary key, body text not null);
    insert into posts values (1, 1, 'first'), (2, 2, 'second');
    insert into notes values (1, 'public');
  `)
  return createServer({
    db: drizzle({ client }),
    registrations: [
      { name: 'posts', schema: posts, authorization: { permissions: { read: 'posts', create: 'posts', update: 'posts' } } },
      { name: 'notes', schema: notes, authorization: { permissions: { read: true, create: true } } },
    ],
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    plugins: [...plugins],
    endpoints,
  })
}

const source = (credentials: FindCredentialCaller, name = 'keys'): AutoApiPlugin => ({ name, credentials })
/** Recognizes `x-key: robot`. */
const keys = (caller: CredentialCaller = ROBOT) => source(({ header }) => header('x-key') === 'robot' ? caller : undefined)
const WITH_KEY = { 'x-key': 'robot' }

/** A plugin whose route answers what it sees of the caller. */
const mirror: AutoApiPlugin = { name: 'mirror', routes: [{ method: 'GET', path: '/whoami', handler: see }] }
const whoAmI = async (server: TestServer, headers: Record<string, string> = WITH_KEY, caller: Caller = SESSION): Promise<Seen> =>
  (await server.request('GET', '/api/whoami', { headers, caller })).body

describe('the caller of a credential', () => {
  it('replaces the user, the permissions and the tenant of the session', async () => {
    const server = await open([keys(), mirror])
    expect(await whoAmI(server)).toEqual({ user: ROBOT.user, permissions: ['posts'], tenant: { id: 2, canAccessAllTenants: false } })
    const list = await server.request('GET', '/api/posts', { headers: WITH_KEY, caller: SESSION })
    expect(list.body.data.map(({ title }: { title: string }) => title)).toEqual(['second'])
    expect((await server.request('GET', '/api/posts/1', { headers: WITH_KEY, caller: SESSION })).status).toBe(404)
  })

  it('is the session\'s while no plugin recognizes the credential', async () => {
    const server = await open([keys(), mirror])
    expect(await whoAmI(server, {})).toEqual({ user: SESSION.user, permissions: ['*'], tenant: { id: 1 } })
    expect((await whoAmI(server, {}, {})).user).toBeNull()
  })

  it.each<[string, CredentialCaller, Omit<Seen, 'user'>]>([
    [
      'its own permissions instead of the user\'s',
      { ...ROBOT, permissions: ['notes'] },
      { permissions: ['notes'], tenant: { id: 2, canAccessAllTenants: false } },
    ],
    ['an empty list of permissions', { ...ROBOT, permissions: [] }, { permissions: [], tenant: { id: 2, canAccessAllTenants: false } }],
    ['no permission of the session', { user: { id: 9 } }, { permissions: [], tenant: undefined }],
    [
      'its own tenant instead of the user\'s',
      { ...ROBOT, tenant: { id: 1 } },
      { permissions: ['posts'], tenant: { id: 1, canAccessAllTenants: false } },
    ],
    [
      'every tenant only if it says so',
      { ...ROBOT, tenant: { id: null, canAccessAllTenants: true } },
      { permissions: ['posts'], tenant: { id: null, canAccessAllTenants: true } },
    ],
    [
      'only the strings of the user\'s permissions',
      { user: { id: 9, permissions: ['posts', 1, null] } },
      { permissions: ['posts'], tenant: undefined },
    ],
  ])('has %s', async (_what, caller, expected) => {
    const server = await open([keys(caller), mirror])
    expect(await whoAmI(server)).toEqual({ user: caller.user, ...expected })
  })

  it('comes after onRequest and before the extenders and onCaller', async () => {
    const order: string[] = []
    const note = (step: string) => () => void order.push(step)
    const server = await open([
      { name: 'notes', onRequest: note('onRequest'), extendContext: note('extendContext'), onCaller: note('onCaller') },
      source(() => {
        order.push('credentials')
        return ROBOT
      }),
    ])
    await server.request('GET', '/api/posts')
    expect(order).toEqual(['onRequest', 'credentials', 'extendContext', 'onCaller'])
  })

  it('is that of the first plugin that recognizes it; the next plugins are not asked', async () => {
    const last = vi.fn(() => ({ user: { id: 3 } }))
    const server = await open([
      source(() => undefined, 'one'),
      source(async () => ({ user: { id: 2 } }), 'two'),
      source(last, 'three'),
      mirror,
    ])
    expect((await whoAmI(server)).user).toEqual({ id: 2 })
    expect(last).not.toHaveBeenCalled()
  })

  it('is found for generated routes, plugin routes, endpoints and getAutoApiContext, also while a plugin is still set up', async () => {
    const slow = async () => {
      await new Promise(resolve => setTimeout(resolve, 30))
      return keys()
    }
    const server = await open([slow, mirror], async () => {
      const { createEndpoint, getAutoApiContext } = await utils()
      return {
        'GET /own/endpoint': createEndpoint({ handler: see }),
        'GET /own/plain': defineEventHandler(async event => see(await getAutoApiContext(event))),
      }
    })
    for (const path of ['/own/plain', '/own/endpoint', '/api/whoami'])
      expect([path, (await server.request('GET', path, { headers: WITH_KEY, caller: SESSION })).body.user]).toEqual([path, ROBOT.user])
    expect((await server.request('GET', '/api/posts', { headers: WITH_KEY })).status).toBe(200)
  })
})

describe('a context extender', () => {
  it('adds other keys to the caller of a credential', async () => {
    const server = await open([keys(), {
      name: 'locale',
      extendContext: ctx => void (ctx.locale = `de-${String(ctx.user?.id)}`),
      routes: [{ method: 'GET', path: '/locale', handler: ctx => [(ctx as AutoApiContext & { locale: string }).locale] }],
    }])
    expect((await server.request('GET', '/api/locale', { headers: WITH_KEY })).body).toEqual(['de-9'])
  })

  const CALLER: CredentialCaller = {
    user: { id: 9, organizationId: 2, role: 'robot', roles: ['robot'], team: { id: 5, roles: ['reader'] } },
    permissions: ['posts'],
    tenant: { id: 2 },
  }

  /** Ways to change the caller. None of them may have an effect, on the request or on the next one. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- an extender can do anything
  const CHANGES: Record<string, (ctx: any) => void> = {
    'another user': ctx => (ctx.user = { id: 1, organizationId: 1, role: 'admin' }),
    'no user': ctx => (ctx.user = null),
    'a role': ctx => (ctx.user.role = 'admin'),
    'a further role': ctx => ctx.user.roles.push('admin'),
    'a role of the team': ctx => ctx.user.team.roles.push('admin'),
    'another team': ctx => Object.assign(ctx.user, { team: { id: 1, roles: ['admin'] } }),
    'another organization of the user': ctx => (ctx.user.organizationId = 1),
    'no role': ctx => delete ctx.user.role,
    'permissions': ctx => (ctx.permissions = ['*']),
    'another tenant': ctx => (ctx.tenant = { id: 1, canAccessAllTenants: true }),
    'no tenant': ctx => (ctx.tenant = undefined),
    'the prototype': ctx => Object.setPrototypeOf(ctx.user, { role: 'admin', permissions: ['*'] }),
  }

  /** Changes that an immutable list or property refuses: the request fails, so that they have no effect either. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- an extender can do anything
  const REFUSED: Record<string, (ctx: any) => void> = {
    'a permission': ctx => ctx.permissions.push('*'),
    'a property of the tenant': ctx => (ctx.tenant.canAccessAllTenants = true),
    'another property': ctx => Object.defineProperty(ctx, 'user', { value: { role: 'admin' } }),
    'no property': ctx => delete ctx.permissions,
  }

  const EXPECTED = { user: CALLER.user, permissions: ['posts'], tenant: { id: 2, canAccessAllTenants: false } }

  it('cannot change the caller of a credential, by any sequence of changes', async () => {
    let sequence: readonly string[] = []
    const server = await open([keys(structuredClone(CALLER)), mirror, {
      name: 'session',
      extendContext: async (ctx) => {
        for (const name of sequence) {
          CHANGES[name]!(ctx)
          await Promise.resolve()
        }
      },
      onCaller: (ctx) => {
        ctx.user = null
        ctx.tenant = { id: 1 }
        ctx.permissions = ['*']
      },
    }])
    await fc.assert(fc.asyncProperty(fc.array(fc.constantFrom(...Object.keys(CHANGES)), { minLength: 1, maxLength: 8 }), async (names) => {
      sequence = names
      const { status, body } = await server.request('GET', '/api/whoami', { headers: WITH_KEY, caller: SESSION })
      // A sequence can fail by itself, such as a change of the role after another one removed the user's roles.
      if (status !== 500) expect({ names, ...body }).toEqual({ names, ...EXPECTED })
      sequence = []
      expect(await whoAmI(server)).toEqual(EXPECTED)
    }), { numRuns: 60 })
  })

  it.each(Object.keys(CHANGES))('has no effect and no error when it sets %s', async (name) => {
    const server = await open([keys(structuredClone(CALLER)), mirror, { name: 'session', extendContext: ctx => CHANGES[name]!(ctx) }])
    expect(await whoAmI(server)).toEqual(EXPECTED)
  })

  it.each(Object.keys(REFUSED))('fails the request when it changes %s', async (name) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const server = await open([keys(structuredClone(CALLER)), mirror, { name: 'session', extendContext: ctx => REFUSED[name]!(ctx) }])
    expect((await server.request('GET', '/api/whoami', { headers: WITH_KEY })).status).toBe(500)
  })

  it('still sets the caller of a request without a credential', async () => {
    const server = await open([keys(), mirror, { name: 'session', extendContext: ctx => void (ctx.user = { id: 4, organizationId: 1 }) }])
    expect(await whoAmI(server, {}, {})).toEqual({ user: { id: 4, organizationId: 1 }, permissions: [], tenant: { id: 1 } })
  })

  it('of betterAuth does not read the session of such a request', async () => {
    const getSession = vi.fn(async () => ({ user: { id: 'u1' }, session: {} }))
    const server = await open([keys(), mirror, betterAuth({ auth: { api: { getSession } } })])
    expect((await whoAmI(server)).user).toEqual(ROBOT.user)
    expect(getSession).not.toHaveBeenCalled()
    expect((await whoAmI(server, {})).user).toMatchObject({ id: 'u1' })
  })

  it('keeps an instance of a class as the user', async () => {
    class Account {
      readonly #secret = 'set'
      readonly id = 9
      get signed() {
        return this.#secret
      }
    }
    const account = new Account()
    let seen: unknown
    const server = await open([keys({ user: account as never }), { name: 'probe', onCaller: ctx => void (seen = ctx.user) }])
    await server.request('GET', '/api/notes', { headers: WITH_KEY })
    expect([seen === account, (seen as Account).signed]).toEqual([true, 'set'])
  })
})

describe('credentials that throw', () => {
  it('refuse with the status, the code and the headers of an error of the API', async () => {
    const server = await open([source(async () => {
      const { apiError } = await utils()
      throw apiError('RATE_LIMITED', 'Too many failed tokens.', { headers: { 'retry-after': '60' } })
    })])
    const { status, body, headers } = await server.request('GET', '/api/notes')
    expect([status, body.data.code, headers.get('retry-after')]).toEqual([429, 'RATE_LIMITED', '60'])
  })

  it('refuse with the status of an HTTP error', async () => {
    const server = await open([source(() => {
      throw createError({ statusCode: 403, message: 'Banned.' })
    })])
    const { status, body } = await server.request('GET', '/api/notes')
    expect([status, body.message]).toEqual([403, 'Banned.'])
  })

  it('refuse with 401 for any other error, log it, and ask no other plugin', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const next = vi.fn(() => ROBOT)
    const server = await open([source(() => {
      throw new Error('no connection to 10.0.0.7')
    }), source(next, 'next')])
    const { status, body, text } = await server.request('GET', '/api/notes', { caller: SESSION })
    expect([status, body.data.code, text.includes('10.0.0.7')]).toEqual([401, 'UNAUTHENTICATED', false])
    expect(log.mock.calls.flat().join()).toMatch(/plugin `keys` threw[\s\S]*no connection to 10\.0\.0\.7/)
    expect(next).not.toHaveBeenCalled()
  })
})

describe('a statement that fails in credentials', () => {
  it('is a 500, so that the client keeps its credential, and is logged without its values', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const failed = new DrizzleQueryError('select * from keys where hash = ?', ['line 1\n    at secret'], new Error('connect ECONNREFUSED'))
    const server = await open([source(() => {
      throw failed
    }), mirror])
    const { status, body } = await server.request('GET', '/api/whoami', { headers: WITH_KEY, caller: SESSION })
    expect([status, body.data?.code]).toEqual([500, undefined])
    const text = logged.mock.calls.flat().join(' ')
    expect(text).toMatch(/Failed query: select \* from keys where hash = \?\s+at .*credentials\.test/)
    expect(text).toContain('[cause]: Error: connect ECONNREFUSED')
    expect(text).not.toContain('secret')
  })
})

describe('an error of an HTTP client in credentials', () => {
  it('is a 401 without the text of the error, although its name is that of the errors of h3 2', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const server = await open([source(() => {
      throw Object.assign(new Error('GET https://10.0.0.7/check 500'), { name: 'HTTPError', response: { status: 500 } })
    })])
    const { status, body, text } = await server.request('GET', '/api/notes', { caller: SESSION })
    expect([status, body.data?.code, text.includes('10.0.0.7')]).toEqual([401, 'UNAUTHENTICATED', false])
    expect(log.mock.calls.flat().join()).toContain('10.0.0.7')
  })
})

describe('credentials that return something else', () => {
  it.each<[string, unknown, RegExp]>([
    ['null', null, /returned null/],
    ['false', false, /a value of type boolean/],
    ['text', 'robot', /a value of type string/],
    ['a list', [ROBOT], /a value of type object/],
    ['no user', {}, /a `user` that is not an object/],
    ['a user that is null', { user: null }, /a `user` that is not an object/],
    ['a user that is an id', { user: 9 }, /a `user` that is not an object/],
    ['the user itself', { id: 9, organizationId: 2 }, /a `user` that is not an object/],
    [
      'misspelled permissions',
      { user: { id: 9, permissions: ['*'] }, permission: ['posts'] },
      /`permission`.*Did you mean `permissions`\?/,
    ],
    ['permissions that are text', { user: { id: 9 }, permissions: '*' }, /`permissions` that is not a list of strings/],
    ['permissions that are null', { user: { id: 9 }, permissions: null }, /`permissions` that is not a list of strings/],
    ['permissions that are no texts', { user: { id: 9 }, permissions: [1] }, /`permissions` that is not a list of strings/],
    ['a tenant that is an id', { user: { id: 9 }, tenant: 2 }, /`tenant` that is not an object with `id`/],
    ['a tenant without an id', { user: { id: 9 }, tenant: {} }, /`tenant` that is not an object with `id`/],
    ['a tenant with an empty id', { user: { id: 9 }, tenant: { id: '' } }, /`tenant` that is not an object with `id`/],
    ['a tenant with a list as its id', { user: { id: 9 }, tenant: { id: [2] } }, /`tenant` that is not an object with `id`/],
    [
      'a tenant with text for every tenant',
      { user: { id: 9 }, tenant: { id: 2, canAccessAllTenants: 'no' } },
      /`tenant` that is not an object/,
    ],
  ])('are a 500 that is logged, and never an anonymous caller or the session: %s', async (_what, found, message) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const next = vi.fn(() => ROBOT)
    const server = await open([source((() => found) as FindCredentialCaller), source(next, 'next')])
    expect((await server.request('GET', '/api/notes', { caller: SESSION })).status).toBe(500)
    expect(log.mock.calls.flat().join()).toMatch(message)
    expect(next).not.toHaveBeenCalled()
  })
})

describe('a write from another site', () => {
  const FOREIGN = { 'sec-fetch-site': 'cross-site', 'origin': 'https://evil.example' }
  const WRITES: readonly [kind: string, path: string][] = [
    ['a generated route', '/api/notes'],
    ['a plugin route', '/api/ping'],
    ['a plugin route of a resource', '/api/notes/check'],
    ['an endpoint', '/own/endpoint'],
    ['a plain handler with getAutoApiContext', '/own/plain'],
  ]

  const openWrites = () =>
    open(
      [
        keys(),
        {
          name: 'writes',
          routes: [
            { method: 'POST', path: '/ping', body: z.object({ body: z.string() }), handler: () => ['written'] },
            {
              method: 'POST',
              path: '/:resource/check',
              operation: 'create',
              resources: ['notes'],
              body: z.object({ body: z.string() }),
              handler: () => ['written'],
            },
          ],
        },
      ],
      async () => {
        const { createEndpoint, getAutoApiContext } = await utils()
        return {
          'POST /own/endpoint': createEndpoint({ body: z.object({ body: z.string() }), handler: () => ['written'] }),
          'POST /own/plain': defineEventHandler(async event => [(await getAutoApiContext(event)).user]),
        }
      },
    )

  it.each(WRITES)('is refused for a session, and passes with a credential: %s', async (_kind, path) => {
    const server = await openWrites()
    const send = async (headers: Record<string, string>, caller?: Caller) => {
      const { status, body } = await server.request('POST', path, { headers, caller, body: { body: 'x' } })
      return status < 300 ? 'passes' : `${status} ${body.data.code}`
    }
    expect(await send(FOREIGN, SESSION)).toBe('403 CROSS_SITE')
    expect(await send(FOREIGN)).toBe('403 CROSS_SITE')
    expect(await send({ ...FOREIGN, 'x-key': 'wrong' }, SESSION)).toBe('403 CROSS_SITE')
    expect(await send({ ...FOREIGN, ...WITH_KEY }, SESSION)).toBe('passes')
    expect(await send({ ...FOREIGN, ...WITH_KEY })).toBe('passes')
    expect(await send({}, SESSION)).toBe('passes')
  })

  it.each(WRITES)('is refused before its body is read: %s', async (_kind, path) => {
    const server = await openWrites()
    const { status, body } = await server.request('POST', path, { headers: FOREIGN, caller: SESSION, raw: 'no JSON' })
    expect([status, body.data.code]).toEqual([403, 'CROSS_SITE'])
  })

  it('is refused before the extenders run', async () => {
    const extendContext = vi.fn()
    const server = await open([{ name: 'session', extendContext }])
    expect((await server.request('POST', '/api/notes', { headers: FOREIGN, caller: SESSION, body: { body: 'x' } })).status).toBe(403)
    expect(extendContext).not.toHaveBeenCalled()
  })
})
