/** Server utils: context extenders, permission evaluators, batches of the trash, statements committed together. */
import { eq, sql } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import type { EventHandler } from 'h3'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ContextExtender } from '../../../../src/runtime/server/core/extensions/extensions'
import type { ResourceAuth } from '../../../../src/runtime/server/registration'
import type { Caller } from '../../../support/server'
import { ANN, articles, CHIEF, HOMELESS, NOBODY, openDesk, tags, told, VISITOR, ZOE, type Desk, type DeskOptions } from '../../../support/desk'

type Utils = typeof import('../../../../src/runtime/server/utils/index')

let desk: Desk

afterEach(() => {
  desk?.client.close()
  vi.restoreAllMocks()
})

async function openWith(make: (utils: Utils) => Record<string, EventHandler>, options: DeskOptions = {}): Promise<Desk> {
  return desk = await openDesk({ ...options, endpoints: async () => make(await import('../../../../src/runtime/server/utils/index')) })
}

const ask = async (method: string, path: string, caller: Caller = ANN, body?: unknown) =>
  told(await desk.request(method, path, { caller, body }))

describe('registrars', () => {
  it.each(['addContextExtender', 'addResourceHook', 'addGlobalHook', 'registerPermissionEvaluator'] as const)(
    'throw outside the server, where they would have no effect: %s',
    async (name) => {
      await openWith(() => ({}), { server: false })
      const utils = await import('../../../../src/runtime/server/utils/index')
      expect(() => (utils[name] as (...args: unknown[]) => void)('articles', {})).toThrow(`${name}() was called outside the server`)
    },
  )
})

describe('context extenders', () => {
  const whoami = ({ createEndpoint }: Utils): Record<string, EventHandler> => ({
    'GET /who': createEndpoint({
      handler: ({ user, permissions, tenant, ...rest }) => ({ user, permissions, tenant, trace: (rest as { trace?: unknown }).trace }),
    }),
  })
  const openExtended = async (...extenders: ContextExtender[]) => {
    await openWith((utils) => {
      for (const extender of extenders) utils.addContextExtender(extender)
      return whoami(utils)
    }, { auth: { articles: { permissions: { read: 'read', update: 'write' } } } })
  }
  const who = async (caller: Caller = NOBODY) => (await desk.request('GET', '/who', { caller })).body

  it('run in the order in which they were added, each seeing what the one before it left', async () => {
    await openExtended(
      async (ctx) => {
        await Promise.resolve()
        ctx.trace = ['first']
      },
      (ctx) => {
        (ctx.trace as string[]).push('second')
      },
    )
    expect((await who()).trace).toEqual(['first', 'second'])
  })

  it('set the user, permissions and tenant of generated routes and endpoints', async () => {
    await openExtended((ctx) => {
      ctx.user = { id: 9, permissions: ['read'] }
      ctx.tenant = { id: 1 }
    })
    expect(await who()).toEqual({ user: { id: 9, permissions: ['read'] }, permissions: ['read'], tenant: { id: 1 } })
    expect([await ask('GET', '/api/articles', NOBODY), await ask('PATCH', '/api/articles/1', NOBODY, { title: 'a' })]).toEqual([
      '200',
      '403 FORBIDDEN',
    ])
  })

  /** By hand: given permissions stand; without any they are the event's, else those of the user there is after the extender. */
  const PERMISSIONS: [title: string, extender: ContextExtender, caller: Caller, permissions: string[]][] = [
    ['gives some', (ctx) => {
      ctx.permissions = ['read']
    }, CHIEF, ['read']],
    ['takes all away', (ctx) => {
      ctx.permissions = []
    }, CHIEF, []],
    ['takes those of the event away', (ctx) => {
      ctx.permissions = []
    }, { ...ANN, permissions: ['*'] }, []],
    ['adds to them', (ctx) => {
      ctx.permissions = [...ctx.permissions, 'write']
    }, { ...ANN, permissions: ['read'] }, ['read', 'write']],
    ['signs the caller out', (ctx) => {
      ctx.user = null
    }, CHIEF, []],
    ['signs the caller out by undefined', (ctx) => {
      ctx.user = undefined as never
    }, CHIEF, []],
    ['puts another user in place', (ctx) => {
      ctx.user = { id: 2, permissions: ['read'] }
    }, CHIEF, ['read']],
    ['changes the user in place', (ctx) => {
      if (ctx.user) ctx.user = Object.assign(ctx.user, { permissions: ['write'] })
    }, { user: { id: 1, permissions: ['read'] } }, ['write']],
    ['gives what is no list', (ctx) => {
      ctx.permissions = '*' as never
    }, ANN, []],
    ['gives what are no names', (ctx) => {
      ctx.permissions = ['read', 1, null] as never
    }, ANN, ['read']],
    ['says nothing of them', () => {}, { ...CHIEF, permissions: ['read'] }, ['read']],
  ]

  it.each(PERMISSIONS)('decide the permissions: one that %s', async (_title, extender, caller, permissions) => {
    await openExtended(extender, () => {})
    expect((await who(structuredClone(caller))).permissions).toEqual(permissions)
  })

  it('end the request by throwing: with the error\'s status, or as a 500 without details', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await openExtended(() => {
      throw new Error('session store: password')
    })
    const before = desk.dump()
    for (const [method, path] of [
      ['GET', '/api/articles'],
      ['PATCH', '/api/articles/1'],
      ['GET', '/api/permissions'],
      ['GET', '/api/_m2m/junctions'],
      ['GET', '/who'],
    ] as const) {
      const { status, text } = await desk.request(method, path, { caller: CHIEF })
      expect([status, text.includes('password')]).toEqual([500, false])
    }
    expect(desk.dump()).toBe(before)
  })
})

describe('permission evaluators', () => {
  const auth: ResourceAuth = {
    permissions: { read: { plan: 'pro' }, update: { policy: 'unknown' }, delete: { broken: true }, create: { torn: true } },
    fields: { fee: { read: { plan: 'gold' } } },
  }
  const open = () => openWith(({ registerPermissionEvaluator }) => {
    registerPermissionEvaluator({ claims: it => 'plan' in it, evaluate: async ({ plan }, ctx) => ctx.user?.plan === plan })
    registerPermissionEvaluator({
      claims: it => 'broken' in it,
      evaluate: () => {
        throw new Error('down')
      },
    })
    registerPermissionEvaluator({
      claims: (it) => {
        if ('torn' in it) throw new Error('torn')
        return false
      },
      evaluate: () => true,
    })
    return {}
  }, { auth: { articles: auth } })
  const pro = { user: { id: 1, organizationId: 1, plan: 'pro' } }

  it('decide the objects they claim, for operations and for fields', async () => {
    await open()
    expect([
      await ask('GET', '/api/articles/1', pro),
      await ask('GET', '/api/articles/1', ANN),
      await ask('GET', '/api/articles/1', VISITOR),
    ]).toEqual(['200', '403 FORBIDDEN', '401 UNAUTHENTICATED'])
    expect((await desk.request('GET', '/api/articles/1', { caller: pro })).body).not.toHaveProperty('fee')
  })

  it('refuse an object that none of them claims, and one whose claims() or evaluate() throws', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await open()
    const answers = [
      await ask('PATCH', '/api/articles/1', pro, { title: 'a' }),
      await ask('DELETE', '/api/articles/1', pro),
      await ask('POST', '/api/articles', pro, { title: 'a' }),
    ]
    expect(answers).toEqual(['403 FORBIDDEN', '403 FORBIDDEN', '403 FORBIDDEN'])
  })

  it('are not called for \'*\'', async () => {
    await open()
    expect(await ask('PATCH', '/api/articles/1', CHIEF, { title: 'a' })).toBe('200')
  })
})

describe('batches of the trash', () => {
  const endpoints = ({ createEndpoint, restoreSoftDeletedBatch, purgeSoftDeletedBatch }: Utils): Record<string, EventHandler> => ({
    'POST /restore': createEndpoint({ handler: ctx => restoreSoftDeletedBatch(ctx, 'articles', batch as never) }),
    'POST /purge': createEndpoint({ handler: ctx => purgeSoftDeletedBatch(ctx, 'articles', batch as never) }),
  })
  let batch: unknown
  const run = async (path: string, what: unknown, caller = ANN) => {
    batch = what
    return desk.request('POST', path, { caller })
  }
  const trashed = () => desk.client.prepare('select id from articles where deleted_at is not null order by id').pluck().all()
  const auth = {
    articles: { permissions: { read: true, update: 'write', delete: 'remove' } },
    comments: { permissions: { read: true, update: 'write', delete: 'remove' } },
  } as const
  const writer: Caller = { user: { id: 1, organizationId: 1, permissions: ['write', 'remove'] } }
  /** Article 1 with its two comments, and article 3, in the trash of organization 1; article 11 in that of 2. */
  const GROUP = `
    update articles set deleted_at = 2000, deletion_id = 'd1' where id = 1; update comments set deleted_at = 2000, deletion_id = 'd1' where article_id = 1;
    update articles set deleted_at = 3000, deletion_id = 'd3' where id = 3; update articles set deleted_at = 3000, deletion_id = 'd11' where id = 11;`
  const open = async () => {
    await openWith(endpoints, { auth })
    desk.client.exec(GROUP)
  }

  it('are restored by ids, with the envelope of the route', async () => {
    await open()
    const { status, body } = await run('/restore', { ids: [1, 3] }, writer)
    expect([status, body.meta, trashed()]).toEqual([200, { total: 2, successful: 2, failed: 0 }, [4, 11]])
    expect(desk.client.prepare('select count(*) from comments where deleted_at is null').pluck().get()).toBe(3)
  })

  it('are restored and purged by their deletionId', async () => {
    await open()
    expect((await run('/restore', { deletionId: 'd1' }, writer)).body.meta.successful).toBe(3)
    expect((await run('/purge', { deletionId: 'd3' }, writer)).body.meta.successful).toBe(1)
    expect(desk.client.prepare('select id from articles order by id').pluck().all()).toEqual([1, 2, 4, 11])
  })

  /** By hand: what the route would answer; nothing is changed. */
  const REFUSED: [path: string, batch: unknown, caller: Caller, expected: string][] = [
    ['/restore', { ids: [1] }, ANN, '403 FORBIDDEN'],
    ['/restore', { ids: [1] }, VISITOR, '401 UNAUTHENTICATED'],
    ['/restore', { ids: [1] }, { user: { id: 1, permissions: ['write'] } }, '403 TENANT_REQUIRED'],
    ['/restore', { ids: [1, 11] }, writer, '404 BULK_FAILED'],
    ['/restore', { ids: [1, 2] }, writer, '404 BULK_FAILED'],
    ['/restore', { deletionId: 'd11' }, writer, '404 NOT_FOUND'],
    ['/restore', { deletionId: 'nothing' }, writer, '404 NOT_FOUND'],
    ['/restore', { ids: [] }, writer, '400 INVALID_BODY'],
    ['/restore', {}, writer, '400 INVALID_BODY'],
    ['/purge', { ids: [1] }, { user: { id: 1, organizationId: 1, permissions: ['write'] } }, '403 FORBIDDEN'],
    ['/purge', { ids: [1, 11] }, writer, '404 BULK_FAILED'],
    ['/purge', { deletionId: 'd11' }, writer, '404 NOT_FOUND'],
  ]

  it.each(REFUSED)('%s %j by %j: %s, and nothing is changed', async (path, what, caller, expected) => {
    await open()
    const before = desk.dump()
    expect(told(await run(path, what, caller))).toBe(expected)
    expect(desk.dump()).toBe(before)
  })

  it('throw for a resource that is not registered', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await openWith(({ createEndpoint, restoreSoftDeletedBatch }) => ({
      'POST /own': createEndpoint({ handler: ctx => restoreSoftDeletedBatch(ctx, 'nothing', { ids: [1] }) }),
    }))
    expect((await desk.request('POST', '/own')).status).toBe(500)
  })
})

describe('atomicWrites', () => {
  type Db = BetterSQLite3Database
  const names = () => desk.client.prepare('select name from tags order by id').pluck().all()
  const run = async (statements: ((db: Db) => unknown)[], caller: Caller = ANN) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await openWith(({ createEndpoint, atomicWrites }) => ({
      'POST /own': createEndpoint({ handler: ctx => atomicWrites<Db>(ctx, statements) }),
    }))
    return desk.request('POST', '/own', { caller })
  }

  it('commits all statements and returns their results in order', async () => {
    const { status, body } = await run([
      db => db.insert(tags).values({ name: 'green' }).returning({ id: tags.id }),
      db => db.update(tags).set({ name: sql`${tags.name} || '!'` }),
      db => db.select({ name: tags.name }).from(tags).where(eq(tags.id, 1)),
      db => db.delete(tags).where(eq(tags.id, 3)),
    ])
    expect([status, body]).toEqual([
      200,
      [
        [{ id: 3 }],
        { changes: 3, lastInsertRowid: expect.any(Number) },
        [{ name: 'red!' }],
        { changes: 1, lastInsertRowid: expect.any(Number) },
      ],
    ])
    expect(names()).toEqual(['red!', 'blue!'])
  })

  it('does nothing without statements', async () => {
    expect((await run([])).body).toEqual([])
  })

  const green = (db: Db) => db.insert(tags).values({ name: 'green' })
  const REFUSED: [title: string, statements: ((db: Db) => unknown)[]][] = [
    ['a statement that the database refuses', [green, db => db.insert(tags).values({ id: 1, name: 'again' })]],
    ['a builder that throws', [green, () => {
      throw new Error('no')
    }]],
    ['what is no builder', [green, () => ({})]],
    ['nothing', [green, () => undefined]],
    ['a builder that was run already', [green, db => db.insert(tags).values({ name: 'run' }).run()]],
    ['an asynchronous function', [green, async db => db.insert(tags).values({ name: 'later' })]],
    ['an asynchronous function alone', [async db => db.insert(tags).values({ name: 'later' })]],
  ]

  it.each(REFUSED)('applies nothing when one of the statements is %s', async (_title, statements) => {
    expect((await run(statements)).status).toBe(500)
    // What was left running has had its time.
    await new Promise(resolve => setTimeout(resolve, 5))
    expect(names()).toEqual(['red', 'blue'])
  })

  it('checks no permission: the handler has to do it', async () => {
    expect((await run([db => db.update(articles).set({ title: 'x' }).where(eq(articles.id, 11))], HOMELESS)).body).toEqual([
      expect.objectContaining({ changes: 1 }),
    ])
    expect(await ask('GET', '/api/articles/11', ZOE)).toBe('200')
  })
})
