/** Endpoints of the app: the authorization, the caller, the rows and the errors of the generated routes. */
import { createError, defineEventHandler, type EventHandler } from 'h3'
import { eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { ResourceAuth } from '../../../src/runtime/server/registration'
import type { Caller } from '../../support/server'
import { ANN, articles, CHIEF, HOMELESS, NOBODY, openDesk, told, VISITOR, ZOE, type Desk, type DeskOptions } from '../../support/desk'

type Utils = typeof import('../../../src/runtime/server/utils/index')

let desk: Desk

afterEach(() => {
  desk?.client.close()
  vi.restoreAllMocks()
})

/** A desk with endpoints made of the server utils. */
async function openWith(make: (utils: Utils) => Record<string, EventHandler>, options: DeskOptions = {}): Promise<Desk> {
  return desk = await openDesk({ ...options, endpoints: async () => make(await import('../../../src/runtime/server/utils/index')) })
}

const HOLDER: Caller = { user: { id: 5, organizationId: 1, permissions: ['publish'] } }
const ask = async (method: string, path: string, caller: Caller = ANN, body?: unknown) =>
  told(await desk.request(method, path, { caller, body }))

describe('createEndpoint with a resource', () => {
  const auth: ResourceAuth = {
    permissions: { read: true, update: 'write', delete: false },
    custom: {
      publish: { permissions: { update: 'publish' } },
      open: { permissions: { delete: true } },
      shut: { permissions: { read: false } },
      empty: {},
    },
  }

  /** By hand: a gate decides what it declares, the resource's permissions the rest. Holder, stranger, anonymous, super-admin. */
  const GATES: [operation: 'read' | 'update' | 'delete', endpointName: string | undefined, expected: [string, string, string, string]][] = [
    ['read', undefined, ['200', '200', '200', '200']],
    ['update', undefined, ['403 FORBIDDEN', '403 FORBIDDEN', '401 UNAUTHENTICATED', '200']],
    ['delete', undefined, ['403 FORBIDDEN', '403 FORBIDDEN', '401 UNAUTHENTICATED', '200']],
    ['update', 'publish', ['200', '403 FORBIDDEN', '401 UNAUTHENTICATED', '200']],
    ['read', 'publish', ['200', '200', '200', '200']],
    ['delete', 'publish', ['403 FORBIDDEN', '403 FORBIDDEN', '401 UNAUTHENTICATED', '200']],
    ['delete', 'open', ['200', '200', '200', '200']],
    ['update', 'open', ['403 FORBIDDEN', '403 FORBIDDEN', '401 UNAUTHENTICATED', '200']],
    ['read', 'shut', ['403 FORBIDDEN', '403 FORBIDDEN', '401 UNAUTHENTICATED', '200']],
    ['update', 'empty', ['403 FORBIDDEN', '403 FORBIDDEN', '401 UNAUTHENTICATED', '200']],
  ]

  it.each(GATES)('authorizes %s with the named gate %s', async (operation, endpointName, expected) => {
    const handler = vi.fn(() => ({ done: true }))
    await openWith(
      ({ createEndpoint }) => ({
        'POST /own': createEndpoint({ resource: 'articles', operation, ...(endpointName !== undefined && { endpointName }), handler }),
      }),
      { auth: { articles: auth } },
    )
    expect([
      await ask('POST', '/own', HOLDER),
      await ask('POST', '/own', ANN),
      await ask('POST', '/own', VISITOR),
      await ask('POST', '/own', CHIEF),
    ]).toEqual(expected)
    expect(handler).toHaveBeenCalledTimes(expected.filter(status => status === '200').length)
  })

  it('requires the resource\'s tenant, whatever the named gate decides', async () => {
    const handler = vi.fn(() => 1)
    await openWith(
      ({ createEndpoint }) => ({
        'GET /own': createEndpoint({ resource: 'articles', operation: 'delete', endpointName: 'open', handler }),
        'GET /tags': createEndpoint({ resource: 'tags', operation: 'read', handler: () => 1 }),
      }),
      { auth: { articles: auth } },
    )
    expect([await ask('GET', '/own', HOMELESS), await ask('GET', '/own', NOBODY), await ask('GET', '/tags', NOBODY)]).toEqual([
      '403 TENANT_REQUIRED',
      '401 TENANT_REQUIRED',
      '200',
    ])
    expect(handler).not.toHaveBeenCalled()
  })

  it('refuses before body and query are read', async () => {
    await openWith(
      ({ createEndpoint }) => ({
        'POST /own': createEndpoint({
          resource: 'articles',
          operation: 'update',
          body: z.object({ at: z.number() }),
          query: z.object({ q: z.string() }),
          handler: () => 1,
        }),
      }),
      { auth: { articles: auth } },
    )
    expect(told(await desk.request('POST', '/own', { raw: '{', caller: ANN }))).toBe('403 FORBIDDEN')
    expect(told(await desk.request('POST', '/own?q=1', { raw: '{', caller: CHIEF }))).toBe('400 INVALID_BODY')
  })

  it.each([
    ['no operation', { resource: 'articles' }, /operation/],
    ['a gate without a resource', { endpointName: 'publish' }, /resource/],
  ])('throws when it is created with %s', async (_title, options, message) => {
    await openWith(() => ({}))
    const { createEndpoint } = await import('../../../src/runtime/server/utils/index')
    expect(() => createEndpoint({ ...options, handler: () => 1 })).toThrow(message)
  })

  it.each([
    ['a gate that is not declared', { resource: 'articles', operation: 'read', endpointName: 'publsh' }],
    ['a resource that is not registered', { resource: 'artcles', operation: 'read' }],
  ] as const)('refuses every caller with %s', async (_title, options) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const handler = vi.fn(() => 1)
    await openWith(({ createEndpoint }) => ({ 'GET /own': createEndpoint({ ...options, handler }) }), { auth: { articles: auth } })
    const { status, text } = await desk.request('GET', '/own', { caller: CHIEF })
    expect(status).toBe(500)
    expect(text).not.toMatch(/publsh|artcles/)
    expect(String(log.mock.calls[0]!.at(-1))).toMatch(/publsh|artcles/)
    expect(handler).not.toHaveBeenCalled()
  })
})

describe('createEndpoint', () => {
  it('returns the handler\'s result as the body, and 204 for undefined', async () => {
    await openWith(({ createEndpoint }) => ({
      'GET /object': createEndpoint({ handler: () => ({ a: 1 }) }),
      'GET /list': createEndpoint({ handler: async () => [1] }),
      'GET /zero': createEndpoint({ handler: () => 0 }),
      'GET /nothing': createEndpoint({ handler: () => undefined }),
    }))
    const answers = []
    for (const path of ['/object', '/list', '/zero', '/nothing']) {
      const { status, body } = await desk.request('GET', path)
      answers.push([status, body])
    }
    expect(answers).toEqual([[200, { a: 1 }], [200, [1]], [200, 0], [204, undefined]])
  })

  it('validates body and query, and passes on the output of the schemas', async () => {
    const seen: unknown[] = []
    await openWith(({ createEndpoint }) => ({
      'POST /own': createEndpoint({
        body: z.object({ at: z.string().transform(at => at.length) }),
        query: z.object({ n: z.coerce.number() }),
        handler: (ctx) => {
          seen.push(ctx.body.at + ctx.query.n)
        },
      }),
    }))
    expect(await ask('POST', '/own?n=4', ANN, { at: 'abc' })).toBe('204')
    expect(seen).toEqual([7])
    const refused = await desk.request('POST', '/own?n=4', { body: { at: 1 } })
    expect([told(refused), refused.body.data.issues]).toEqual([
      '400 VALIDATION_FAILED',
      [{ path: ['at'], message: expect.any(String), code: 'invalid_type' }],
    ])
    expect(told(await desk.request('POST', '/own?n=x', { body: { at: 'abc' } }))).toBe('400 VALIDATION_FAILED')
    expect(
      told(await desk.request('POST', '/own?n=1', { raw: 'at=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } })),
    ).toBe('415 UNSUPPORTED_MEDIA_TYPE')
    expect(seen).toEqual([7])
  })

  it('keeps the status of an HTTP error, and hides an unexpected error', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await openWith(({ createEndpoint }) => ({
      'GET /conflict': createEndpoint({
        handler: () => {
          throw createError({ statusCode: 409, message: 'taken', data: { code: 'TAKEN' } })
        },
      }),
      'GET /broken': createEndpoint({
        handler: () => {
          throw new Error('password is x')
        },
      }),
    }))
    expect(await ask('GET', '/conflict')).toBe('409 TAKEN')
    const { status, text } = await desk.request('GET', '/broken')
    expect([status, text.includes('password')]).toEqual([500, false])
  })

  it('without a resource authorizes nothing, and has the caller', async () => {
    await openWith(
      ({ createEndpoint, getAutoApiContext }) => ({
        'GET /own/:id': createEndpoint({
          handler: ({ user, permissions, tenant, params, query, resource }) => ({ user, permissions, tenant, params, query, resource }),
        }),
        'GET /context': defineEventHandler(async (event) => {
          const [ctx, again] = [await getAutoApiContext(event), await getAutoApiContext(event)]
          return { user: ctx.user, permissions: ctx.permissions, tenant: ctx.tenant, same: ctx === again }
        }),
      }),
      { auth: { articles: null, writers: null, comments: null, tags: null, invoices: null } },
    )
    const chief = { user: CHIEF.user, permissions: ['*'], tenant: { id: 1 } }
    expect((await desk.request('GET', '/own/a%2Fb?x=1&x=2', { caller: CHIEF })).body).toEqual({
      ...chief,
      params: { id: 'a/b' },
      query: { x: ['1', '2'] },
      resource: '',
    })
    expect((await desk.request('GET', '/context', { caller: CHIEF })).body).toEqual({ ...chief, same: true })
    expect((await desk.request('GET', '/context')).body).toEqual({ user: null, permissions: [], same: true })
  })
})

describe('findAuthorizedRow', () => {
  const auth: ResourceAuth = {
    permissions: { read: true, update: true },
    listFilter: (table, ctx) => (ctx.user ? undefined : eq((table as typeof articles).status, 'open')),
    objectLevel: (row, ctx) =>
      ctx.operation === 'read' ? (row as { title?: string }).title !== 'two' : (row as { writerId?: number }).writerId === ctx.user?.id,
  }
  const endpoints = ({
    createEndpoint,
    findAuthorizedRow,
    findAuthorizedRows,
    getAutoApiContext,
  }: Utils): Record<string, EventHandler> => ({
    'GET /read/:id': createEndpoint({
      resource: 'articles',
      operation: 'read',
      handler: ctx => findAuthorizedRow<typeof articles>(ctx, 'articles', ctx.params.id!),
    }),
    'GET /update/:id': createEndpoint({
      resource: 'articles',
      operation: 'update',
      handler: ctx => findAuthorizedRow<typeof articles>(ctx, 'articles', ctx.params.id!),
    }),
    'GET /update-all/:ids': createEndpoint({
      resource: 'articles',
      operation: 'update',
      handler: ctx => findAuthorizedRows<typeof articles>(ctx, 'articles', ctx.params.ids!.split('-')),
    }),
    'GET /plain/:id': defineEventHandler(async event =>
      findAuthorizedRow(await getAutoApiContext(event), 'articles', event.context.params!.id!),
    ),
  })

  /** By hand, from the contract. */
  const CASES: [path: string, caller: Caller, expected: string][] = [
    ['/read/1', ANN, '200'],
    ['/read/2', ANN, '404 NOT_FOUND'],
    ['/read/3', VISITOR, '404 NOT_FOUND'],
    ['/read/11', ANN, '404 NOT_FOUND'],
    ['/read/4', ANN, '404 NOT_FOUND'],
    ['/read/99', ANN, '404 NOT_FOUND'],
    ['/read/01', ANN, '404 NOT_FOUND'],
    ['/read/x', CHIEF, '404 NOT_FOUND'],
    ['/update/1', ANN, '200'],
    ['/update/1', HOLDER, '403 FORBIDDEN'],
    ['/update/1', VISITOR, '401 UNAUTHENTICATED'],
    ['/update/2', HOLDER, '404 NOT_FOUND'],
    ['/update/11', ZOE, '200'],
    ['/update-all/1-3', ANN, '200'],
    ['/update-all/1-3', HOLDER, '403 FORBIDDEN'],
    ['/update-all/1-11', ANN, '404 NOT_FOUND'],
    ['/plain/1', HOLDER, '200'],
    ['/plain/1', HOMELESS, '404 NOT_FOUND'],
  ]

  it.each(CASES)('%s for %j: %s', async (path, caller, expected) => {
    await openWith(endpoints, { auth: { articles: auth } })
    expect(await ask('GET', path, caller)).toBe(expected)
  })

  it('returns the whole row, hidden columns and fields with a rule included, in the order of the ids', async () => {
    await openWith(endpoints, { auth: { articles: { ...auth, fields: { fee: { read: false } } } } })
    expect((await desk.request('GET', '/update/1', { caller: ANN })).body).toEqual({
      id: 1,
      organizationId: 1,
      writerId: 1,
      title: 'one',
      slug: 's1',
      status: 'open',
      fee: 10,
      secret: 'x1',
      deletedAt: null,
      deletionId: null,
    })
    expect((await desk.request('GET', '/update-all/3-1-3', { caller: ANN })).body.map(({ id }: { id: number }) => id)).toEqual([3, 1, 3])
  })

  it.each([['by SQL', undefined], ['by code', () => true]])('finds a thousand rows, filtered %s', async (_title, objectLevel) => {
    await openWith(
      ({ createEndpoint, findAuthorizedRows }) => ({
        'GET /many': createEndpoint({
          resource: 'articles',
          operation: 'read',
          handler: async ctx =>
            (
              await findAuthorizedRows<typeof articles>(
                ctx,
                'articles',
                Array.from({ length: 1000 }, (_, index) => 1100 - index),
              )
            ).map(({ id }) => id),
        }),
      }),
      { auth: { articles: { permissions: { read: true }, ...(objectLevel && { objectLevel }) } } },
    )
    desk.client.exec(
      'with recursive n(i) as (select 101 union all select i + 1 from n where i < 1100) insert into articles (id, organization_id, title) select i, 1, \'t\' from n',
    )
    const { body } = await desk.request('GET', '/many', { caller: ANN })
    expect([body.length, body[0], body.at(-1)]).toEqual([1000, 1100, 101])
  })

  it('refuses in a plain event handler with the code of the API, as an error that Nuxt handles', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    await openWith(endpoints, { auth: { articles: auth } })
    const { status, body } = await desk.request('GET', '/plain/99', { caller: ANN })
    expect([status, body.data]).toEqual([404, { code: 'NOT_FOUND' }])
    expect(log).not.toHaveBeenCalled()
  })

  it('throws for a context that the API did not create', async () => {
    await openWith(endpoints)
    const { findAuthorizedRow, rowScope } = await import('../../../src/runtime/server/utils/index')
    await expect(findAuthorizedRow({ user: null, permissions: ['*'] } as never, 'articles', 1)).rejects.toThrow(/context/)
    await expect((async () => rowScope({ permissions: ['*'] } as never, 'articles', articles))()).rejects.toThrow(/context/)
  })
})

describe('rowScope', () => {
  const other = alias(articles, 'other')
  const endpoints = ({ createEndpoint, rowScope }: Utils): Record<string, EventHandler> => ({
    'GET /own': createEndpoint({
      resource: 'tags',
      operation: 'read',
      handler: async ctx =>
        (ctx.db as BetterSQLite3Database)
          .select({ id: articles.id })
          .from(articles)
          .where(await rowScope(ctx, 'articles', articles)),
    }),
    'GET /aliased': createEndpoint({
      resource: 'tags',
      operation: 'read',
      handler: async (ctx) => {
        const db = ctx.db as BetterSQLite3Database
        return db
          .select({ id: articles.id, other: other.id })
          .from(articles)
          .innerJoin(other, eq(other.writerId, articles.writerId))
          .where(await rowScope(ctx, 'articles', other))
          .orderBy(articles.id, other.id)
      },
    }),
  })

  it('is tenant, trash and listFilter, for the table and for an alias of it', async () => {
    await openWith(endpoints, {
      auth: { articles: { permissions: {}, listFilter: async table => eq((table as typeof articles).status, 'open') } },
    })
    const read = async (path: string, caller: Caller) => (await desk.request('GET', path, { caller })).body
    expect(await read('/own', ANN)).toEqual([{ id: 1 }, { id: 2 }])
    expect(await read('/own', ZOE)).toEqual([{ id: 11 }])
    expect(await read('/own', HOMELESS)).toEqual([])
    // Article 3 is done: it stands on the left, where nothing is scoped, and never on the right.
    expect(await read('/aliased', ANN)).toEqual([{ id: 1, other: 1 }, { id: 2, other: 2 }, { id: 3, other: 1 }])
  })

  it('keeps the tenant and the trash where listFilter is raw SQL with `or`', async () => {
    await openWith(endpoints, { auth: { articles: { permissions: {}, listFilter: () => sql`status = 'done' or status = 'open'` } } })
    const read = async (caller: Caller) => (await desk.request('GET', '/own', { caller })).body
    expect(await read(ANN)).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
    expect(await read(HOMELESS)).toEqual([])
  })

  it('includes every row of a resource without rules', async () => {
    await openWith(({ createEndpoint, rowScope }) => ({
      'GET /own': createEndpoint({ handler: async (ctx) => {
        const { tags } = await import('../../support/desk')
        return (ctx.db as BetterSQLite3Database).select().from(tags).where(await rowScope(ctx, 'tags', tags))
      } }),
    }))
    expect((await desk.request('GET', '/own')).body).toHaveLength(2)
  })
})

describe('assertPermission', () => {
  it.each([
    [ANN, 'read', '200'],
    [ANN, 'update', '403 FORBIDDEN'],
    [VISITOR, 'update', '401 UNAUTHENTICATED'],
    [HOLDER, 'update', '200'],
    [ANN, 'aggregate', '200'],
    [HOLDER, 'restore', '200'],
    [CHIEF, 'delete', '200'],
    [CHIEF, 'create', '200'],
    [ANN, 'create', '403 FORBIDDEN'],
    [HOMELESS, 'read', '403 TENANT_REQUIRED'],
    [NOBODY, 'read', '401 TENANT_REQUIRED'],
  ] as const)('for %j, %s: %s', async (caller, operation, expected) => {
    await openWith(
      ({ createEndpoint, assertPermission }) => ({
        'GET /own': createEndpoint({
          handler: async (ctx) => {
            await assertPermission(ctx, 'articles', operation)
            return 1
          },
        }),
      }),
      { auth: { articles: { permissions: { read: true, update: 'publish', create: false } } } },
    )
    expect(await ask('GET', '/own', caller)).toBe(expected)
  })
})
