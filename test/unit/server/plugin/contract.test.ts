/** The plugin contract: when each part runs, what it can do, and what fails the start. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { createError } from 'h3'
import { z } from 'zod'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineAutoApiPlugin, type AutoApiPlugin, type PluginRoute, type PluginServer } from '../../../../src/runtime/server/define'
import type { ResourceAuth, ResourceRegistration } from '../../../../src/runtime/server/registration'
import { createServer, type Caller, type TestServer } from '../../../support/server'

const posts = sqliteTable('posts', {
  id: text('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull(),
})
const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })

const MEMBER: Caller = { user: { id: 1, organizationId: 1 }, permissions: ['posts'] }
const NEIGHBOUR: Caller = { user: { id: 2, organizationId: 2 }, permissions: ['posts'] }
const GUEST: Caller = { user: { id: 3, organizationId: 1 }, permissions: [] }

let client: Database.Database
afterEach(() => {
  client?.close()
  vi.restoreAllMocks()
})

async function open(
  plugins: readonly unknown[],
  options: { auth?: ResourceAuth, hooks?: ResourceRegistration['hooks'], built?: readonly string[], taken?: readonly string[] } = {},
): Promise<TestServer> {
  client = new Database(':memory:')
  client.exec(`
    create table posts (id text primary key, organization_id integer not null, title text not null);
    create table tags (id integer primary key, name text not null);
    insert into posts values ('a', 1, 'ours'), ('b', 2, 'theirs');
  `)
  const permissions = { read: 'posts', create: 'posts', update: 'posts', delete: 'posts' }
  return createServer({
    db: drizzle({ client }),
    registrations: [
      { name: 'posts', schema: posts, authorization: { permissions, ...options.auth }, hooks: options.hooks },
      { name: 'tags', schema: tags, authorization: { permissions: { read: true } } },
    ],
    config: {
      multiTenancy: {
        enabled: true,
        tenantIdField: 'organizationId',
        userTenantField: 'organizationId',
        scopedResources: '*',
        excludedResources: [],
      },
    },
    plugins,
    ...options,
  })
}

const plugin = (parts: Omit<AutoApiPlugin, 'name'>, name = 'probe'): AutoApiPlugin => defineAutoApiPlugin({ name, ...parts })

describe('a request', () => {
  it('runs onRequest, the extenders, the authorization, around and the hooks in this order', async () => {
    const way: string[] = []
    const tell = (step: string) => () => void way.push(step)
    const probe = plugin({
      onRequest: tell('onRequest'),
      extendContext: tell('extendContext'),
      around: async (_ctx, next) => {
        way.push('around')
        const answer = await next()
        way.push('answered')
        return answer
      },
      hooks: { '*': { beforeUpdate: tell('global hook') }, 'posts': { beforeUpdate: tell('hook of the plugin') } },
    })
    const server = await open([probe], {
      auth: { permissions: { update: () => {
        way.push('gate')
        return true
      } } },
      hooks: { beforeUpdate: tell('hook of the registration') },
    })
    expect((await server.request('PATCH', '/api/posts/a', { caller: MEMBER, body: { title: 'new' } })).status).toBe(200)
    expect(way).toEqual([
      'onRequest',
      'extendContext',
      'gate',
      'around',
      'global hook',
      'hook of the plugin',
      'hook of the registration',
      'answered',
    ])
  })

  it('has resource and operation in onRequest, and no caller yet', async () => {
    const seen: unknown[] = []
    const server = await open([
      plugin({
        onRequest: request =>
          void seen.push([
            request.method,
            request.resource,
            request.operation,
            request.query.limit,
            request.header('x-probe'),
            'user' in request,
          ]),
      }),
    ])
    await server.request('GET', '/api/posts?limit=2', { caller: MEMBER, headers: { 'x-probe': 'here' } })
    await server.request('DELETE', '/api/posts/a', { caller: GUEST })
    await server.request('GET', '/api/permissions')
    expect(seen).toEqual([
      ['GET', 'posts', 'read', '2', 'here', false],
      ['DELETE', 'posts', 'delete', undefined, undefined, false],
      ['GET', '', 'read', undefined, undefined, false],
    ])
  })

  it('ends in onRequest when it throws, with the error\'s status and the headers that onRequest set', async () => {
    const extendContext = vi.fn()
    const server = await open([plugin({
      extendContext,
      onRequest: (request) => {
        request.setHeader('retry-after', '7')
        throw createError({ statusCode: 429, message: 'Slow down.' })
      },
    })])
    const answer = await server.request('GET', '/api/posts', { caller: MEMBER })
    expect([answer.status, answer.body.message, answer.headers.get('retry-after')]).toEqual([429, 'Slow down.', '7'])
    expect(extendContext).not.toHaveBeenCalled()
  })

  it('keeps every cookie that a plugin sets, and the last value of every other header', async () => {
    const server = await open([plugin({
      onRequest: (request) => {
        for (const name of ['Set-Cookie', 'x-name']) for (const value of ['a=1', 'b=2; Path=/']) request.setHeader(name, value)
      },
      around: async (_ctx, next) => ({ ...await next(), headers: { 'set-cookie': 'c=3' } }),
    })])
    const { headers } = await server.request('GET', '/api/posts', { caller: MEMBER })
    expect([headers.getSetCookie(), headers.get('x-name')]).toEqual([['a=1', 'b=2; Path=/', 'c=3'], 'b=2; Path=/'])
  })

  it('is refused for a caller without permission before around runs', async () => {
    const around = vi.fn()
    const server = await open([plugin({ around })])
    expect((await server.request('GET', '/api/posts', { caller: GUEST })).status).toBe(403)
    expect((await server.request('GET', '/api/posts', { caller: { user: { id: 9 }, permissions: ['posts'] } })).body.data.code).toBe(
      'TENANT_REQUIRED',
    )
    expect(around).not.toHaveBeenCalled()
  })
})

describe('extendContext', () => {
  it('sets the caller and the tenant', async () => {
    const server = await open([plugin({ extendContext: (ctx) => {
      ctx.user = { id: 7, organizationId: 2 }
      ctx.permissions = ['posts']
    } })])
    expect((await server.request('GET', '/api/posts')).body.data.map((post: { id: string }) => post.id)).toEqual(['b'])
  })
})

describe('around', () => {
  it('can return its own response, headers included', async () => {
    const beforeList = vi.fn()
    const server = await open([plugin({ around: () => ({ status: 200, body: { data: 'cached' }, headers: { 'x-cache': 'hit' } }) })], {
      hooks: { beforeList },
    })
    const answer = await server.request('GET', '/api/posts', { caller: MEMBER })
    expect([answer.status, answer.body, answer.headers.get('x-cache')]).toEqual([200, { data: 'cached' }, 'hit'])
    expect(beforeList).not.toHaveBeenCalled()
  })

  it('runs the first plugin of the list outermost', async () => {
    const wrap = (mark: string) => plugin({ around: async (_ctx, next) => ({ ...await next(), headers: { 'x-outermost': mark } }) }, mark)
    const server = await open([wrap('first'), wrap('second')])
    expect((await server.request('GET', '/api/posts', { caller: MEMBER })).headers.get('x-outermost')).toBe('first')
  })

  it.each<[what: string, around: unknown, message: string]>([
    ['no response', async (_ctx: unknown, next: () => unknown) => void (await next()), '`around` of a plugin returned no response'],
    [
      'a header with a line break',
      async (_ctx: unknown, next: () => Promise<object>) => ({ ...(await next()), headers: { 'x-title': 'a\r\nb: c' } }),
      'the header "x-title" has an invalid name or value',
    ],
    [
      'a header with text beyond Latin-1',
      () => ({ status: 200, body: {}, headers: { 'x-title': '日本' } }),
      'the header "x-title" has an invalid name or value',
    ],
  ])('is a 500 that is logged if it returns %s', async (_what, around, message) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const server = await open([plugin({ around: around as AutoApiPlugin['around'] })])
    expect((await server.request('GET', '/api/posts', { caller: MEMBER })).status).toBe(500)
    expect(log.mock.calls.flat().join(' ')).toContain(message)
    log.mockRestore()
  })

  it('cannot run a write twice', async () => {
    const server = await open([plugin({ around: async (_ctx, next) => {
      await next()
      return next()
    } })])
    expect((await server.request('POST', '/api/posts', { caller: MEMBER, body: { id: 'c', title: 'once' } })).status).toBe(201)
    expect(client.prepare('select count(*) as posts from posts').get()).toEqual({ posts: 3 })
  })
})

describe('a route of a plugin', () => {
  const title: PluginRoute = {
    method: 'GET',
    path: '/:resource/:id/title',
    operation: 'read',
    resources: ['posts'],
    handler: async (ctx) => {
      const { findAuthorizedRow } = await import('../../../../src/runtime/server/utils/index')
      return { title: (await findAuthorizedRow<typeof posts>(ctx, 'posts', ctx.params.id!)).title, for: ctx.resource }
    },
  }

  it('is authorized by its resource, and finds visible rows only', async () => {
    const server = await open([plugin({ routes: [title] })])
    const told = async (path: string, caller?: Caller) => {
      const { status, body } = await server.request('GET', path, { caller })
      return [status, status === 200 ? body : body.data.code]
    }
    expect(await told('/api/posts/a/title', MEMBER)).toEqual([200, { title: 'ours', for: 'posts' }])
    expect(await told('/api/posts/b/title', NEIGHBOUR)).toEqual([200, { title: 'theirs', for: 'posts' }])
    expect(await told('/api/posts/b/title', MEMBER)).toEqual([404, 'NOT_FOUND'])
    expect(await told('/api/posts/a/title', GUEST)).toEqual([403, 'FORBIDDEN'])
    expect(await told('/api/posts/a/title')).toEqual([401, 'UNAUTHENTICATED'])
    expect(await told('/api/posts/a/title', { user: { id: 1 }, permissions: ['posts'] })).toEqual([403, 'TENANT_REQUIRED'])
  })

  it('exists for every resource unless it names some', async () => {
    const server = await open([
      plugin({ routes: [{ method: 'GET', path: '/:resource/count', operation: 'read', handler: ctx => ({ of: ctx.resource }) }] }),
    ])
    expect((await server.request('GET', '/api/posts/count', { caller: MEMBER })).body).toEqual({ of: 'posts' })
    expect((await server.request('GET', '/api/tags/count')).body).toEqual({ of: 'tags' })
  })

  it('can have no resource, and authorizes nothing then', async () => {
    const server = await open([
      plugin({
        routes: [
          {
            method: 'POST',
            path: '/tokens/:name',
            body: z.object({ n: z.number() }),
            handler: ctx => ({ name: ctx.params.name, body: ctx.body, user: ctx.user }),
          },
        ],
      }),
    ])
    expect((await server.request('POST', '/api/tokens/my%20name', { body: { n: 1 } })).body).toEqual({
      name: 'my name',
      body: { n: 1 },
      user: null,
    })
    expect((await server.request('POST', '/api/tokens/x', { body: { n: 'one' } })).body.data.code).toBe('VALIDATION_FAILED')
  })

  it('returns 204 when its handler returns nothing', async () => {
    const server = await open([plugin({ routes: [{ method: 'POST', path: '/ping', handler: () => undefined }] })])
    expect((await server.request('POST', '/api/ping')).status).toBe(204)
  })

  it('returns 405 for other methods, with its own in Allow', async () => {
    const server = await open([plugin({ routes: [title, { ...title, method: 'PUT' }] })])
    const answer = await server.request('DELETE', '/api/posts/a/title', { caller: MEMBER })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, PUT, OPTIONS'])
  })

  it('takes precedence over a record of the same path, which therefore cannot be created', async () => {
    const server = await open([
      plugin({ routes: [{ method: 'GET', path: '/:resource/export', operation: 'read', handler: () => ['exported'] }] }),
    ])
    expect((await server.request('GET', '/api/posts/export', { caller: MEMBER })).body).toEqual(['exported'])
    expect((await server.request('POST', '/api/posts', { caller: MEMBER, body: { id: 'export', title: 'x' } })).body.data.code).toBe(
      'INVALID_VALUE',
    )
  })

  it('is replaced by the app\'s own route of the same shape', async () => {
    const server = await open([plugin({ routes: [title] })], { taken: ['GET /posts/:/title'] })
    expect((await server.request('GET', '/api/posts/a/title', { caller: MEMBER })).status).toBe(404)
  })

  it('does not handle any other path', async () => {
    const server = await open([plugin({ routes: [title] })])
    for (const path of ['/api/posts/a%2Ftitle', '/api/posts/a/title/more', '/api/tags/1/title', '/other'])
      expect((await server.request('GET', path, { caller: MEMBER })).status).toBe(404)
    expect((await server.request('GET', '/api/posts/a', { caller: MEMBER })).body.title).toBe('ours')
  })

  it.each<[string, PluginRoute, RegExp]>([
    ['takes the place of a generated one', { method: 'GET', path: '/:resource/:slug', operation: 'read', handler: () => 1 }, /has already/],
    ['has no operation', { method: 'GET', path: '/:resource/export', handler: () => 1 }, /has no `operation`/],
    ['has no handler', { method: 'GET', path: '/ping' } as never, /has no `handler`/],
    [
      'is for a resource that there is not',
      { method: 'GET', path: '/:resource/export', operation: 'read', resources: ['magazines'], handler: () => 1 },
      /`magazines`, which is not a registered resource/,
    ],
    ['names an operation for no resource', { method: 'GET', path: '/ping', operation: 'read', handler: () => 1 }, /is for no resource/],
    ['has a path with a wildcard', { method: 'GET', path: '/files/**', handler: () => 1 }, /has a path that is not made of segments/],
    ['has an unknown method', { method: 'HEAD' as never, path: '/ping', handler: () => 1 }, /has a method that is none of/],
  ])('fails the start when it %s', async (_what, route, message) => {
    await expect(open([plugin({ routes: [route] })])).rejects.toThrow(message)
  })

  it('fails the start when two plugins have the same route', async () => {
    await expect(
      open([plugin({ routes: [title] }, 'one'), plugin({ routes: [{ ...title, path: '/:resource/:key/title' }] }, 'two')]),
    ).rejects.toThrow(/has already/)
  })
})

describe('the list of plugins', () => {
  it('accepts a plugin, several, and functions that create them', async () => {
    const met: string[] = []
    const meet = (name: string) => plugin({ onRequest: () => void met.push(name) }, name)
    const server = await open([meet('alone'), [meet('one'), meet('other')], () => meet('made'), () => [meet('several')]])
    await server.request('GET', '/api/tags')
    expect(met).toEqual(['alone', 'one', 'other', 'made', 'several'])
  })

  it('uses the last of two plugins with one name, once', async () => {
    const met: string[] = []
    const server = await open([plugin({ onRequest: () => void met.push('config') }), plugin({ onRequest: () => void met.push('file') })])
    await server.request('GET', '/api/tags')
    expect(met).toEqual(['file'])
  })

  it('keeps requests waiting until a plugin is set up asynchronously', async () => {
    const met: string[] = []
    const server = await open([async () => {
      await new Promise(resolve => setTimeout(resolve, 30))
      return plugin({ onRequest: () => void met.push('ready'), routes: [{ method: 'GET', path: '/ping', handler: () => ['pong'] }] })
    }])
    const [list, ping] = await Promise.all([server.request('GET', '/api/tags'), server.request('GET', '/api/ping')])
    expect([list.status, ping.body, met]).toEqual([200, ['pong'], ['ready', 'ready']])
  })

  it('refuses every request when such a plugin cannot be set up', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const server = await open([async () => {
      throw new Error('no connection')
    }])
    const { status, text } = await server.request('GET', '/api/tags')
    expect([status, text.includes('no connection')]).toEqual([500, false])
  })

  it.each<[string, unknown, RegExp, { built?: string[] }?]>([
    [
      'throws while it is made',
      () => {
        throw new Error('no connection')
      },
      /no connection/,
    ],
    ['is none', 'rate limit', /`plugins\[0\]` is no plugin/],
    ['has no name', { onRequest: () => {} }, /`name` of the plugin undefined is not a string/],
    ['has something that is not a function', { name: 'probe', onCommit: true }, /`onCommit` of the plugin "probe" is not a function/],
    ['has a part that there is not', { name: 'probe', onrequest: () => {} }, /`onrequest`, which is no part of a plugin/],
    ['has hooks for a resource that there is not', { name: 'probe', hooks: { magazines: {} } }, /hooks for `magazines`/],
    ['has a task without a time', { name: 'probe', tasks: { prune: { run: () => {} } } }, /needs `every`/],
    ['has a buildSetup that never ran', { name: 'probe', buildSetup: () => {} }, /`buildSetup`, which never ran/],
    [
      'has resources that were never registered',
      { name: 'probe', resources: () => {} },
      /`resources`, which never ran[^.]*\. Create the plugin with a factory/,
    ],
    ['has no function for its resources', { name: 'probe', resources: {} }, /`resources` of the plugin "probe" is not a function/],
  ])('fails the start when a plugin %s', async (_what, listed, message) => {
    await expect(open([listed])).rejects.toThrow(message)
  })

  it('accepts a plugin whose buildSetup has run', async () => {
    const server = await open([plugin({ buildSetup: () => {} })], { built: ['probe.buildSetup'] })
    expect((await server.request('GET', '/api/tags')).status).toBe(200)
  })
})

describe('the set-up of a plugin', () => {
  it('runs once, only for the last plugin of a name, before the first response', async () => {
    const done: string[] = []
    const slow = async () => {
      await new Promise(resolve => setTimeout(resolve, 20))
      done.push('slow')
    }
    const server = await open([
      plugin({ setup: () => done.push('replaced') }),
      plugin({ setup: () => done.push('probe') }),
      plugin({ setup: slow, onRequest: () => done.push('request') }, 'slow'),
    ])
    await server.request('GET', '/api/posts', { caller: MEMBER })
    await server.request('GET', '/api/posts', { caller: MEMBER })
    expect(done).toEqual(['probe', 'slow', 'request', 'request'])
  })

  it('receives the resources with their tables, columns and relations, and nothing that can change the API', async () => {
    let received: PluginServer | undefined
    const server = await open([plugin({ setup: server => void (received = server) })])
    const { resources, config, storage } = received!
    expect([...resources.keys()]).toEqual(['posts', 'tags'])
    const own = resources.get('posts')!
    expect(own).toMatchObject({ name: 'posts', primaryKey: ['id'], tenant: 'organizationId' })
    expect(own.table).toBe(posts)
    expect([...own.fields.values()].map(({ name, kind, nullable, optional, hidden }) => [name, kind, nullable, optional, hidden])).toEqual([
      ['id', 'text', false, false, false], ['organizationId', 'integer', false, false, false], ['title', 'text', false, false, false],
    ])
    expect(own.fields.get('title')!.column).toBe(posts.title)
    expect(resources.get('tags')).not.toHaveProperty('tenant')
    expect([config.prefix, storage('cache')]).toEqual(['/api', undefined])

    expect(() => (config.pagination.maxLimit = 1_000_000)).toThrow(TypeError)
    expect(() => Object.assign(config, { multiTenancy: false })).toThrow(TypeError)
    expect(() => Object.assign(own, { tenant: undefined })).toThrow(TypeError)
    ;(resources as Map<string, unknown>).clear()
    expect((await server.request('GET', '/api/posts', { caller: MEMBER })).body.data.map((post: { id: string }) => post.id)).toEqual(['a'])
  })

  it('fails the start by throwing', async () => {
    await expect(open([plugin({ setup: () => {
      throw new Error('no connection')
    } })])).rejects.toThrow('no connection')
  })
})

describe('onCaller', () => {
  it('gets the caller and the tenant of the extenders, and can refuse before authorization', async () => {
    const seen: unknown[] = []
    const probe = plugin({
      extendContext: (ctx) => {
        ctx.user = { id: 9, organizationId: 2 }
      },
      onCaller: (ctx, { operation }) => {
        seen.push([ctx.user?.id, ctx.tenant?.id, operation])
        if (operation === 'delete') throw createError({ statusCode: 402 })
      },
    })
    const gate = vi.fn(() => true)
    const server = await open([probe], { auth: { permissions: { read: gate, delete: gate } } })
    expect((await server.request('GET', '/api/posts')).status).toBe(200)
    expect((await server.request('DELETE', '/api/posts/b')).status).toBe(402)
    expect(seen).toEqual([[9, 2, 'read'], [9, 2, 'delete']])
    expect(gate).toHaveBeenCalledTimes(1)
  })
})

describe('field rules of a plugin', () => {
  it('apply where the registration has no rule of its own, and fail the start for an unknown name', async () => {
    const rules = { posts: { title: { read: 'titles' } } }
    const titleOf = async (auth?: ResourceAuth) => {
      const server = await open([plugin({ fieldRules: rules })], { auth })
      const { body } = await server.request('GET', '/api/posts/a', { caller: MEMBER })
      const { status } = await server.request('GET', '/api/posts?sort=title', { caller: MEMBER })
      client.close()
      return [body.title, status]
    }
    expect(await titleOf()).toEqual([undefined, 400])
    expect(await titleOf({ fields: { title: { write: false } } })).toEqual([undefined, 400])
    expect(await titleOf({ fields: { title: { read: true } } })).toEqual(['ours', 200])
    await expect(open([plugin({ fieldRules: { post: {} } })])).rejects.toThrow('not a registered resource. Did you mean `posts`?')
    await expect(open([plugin({ fieldRules: { posts: { titel: { read: true } } } })])).rejects.toThrow('has no column `titel`.')
  })
})
