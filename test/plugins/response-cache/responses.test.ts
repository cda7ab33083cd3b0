/** What the response cache stores, for whom, and what it never stores. */
import type { EventHandlerRequest, H3Event } from 'h3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineAutoApiPlugin, type AutoApiPlugin } from '../../../src/runtime/server/define'
import { requestMetadata, responseCache } from '../../../src/runtime/plugins'
import { atomicWrites, invalidateCache, reportChanges } from '../../../src/runtime/server/utils'
import type { Answered, Caller, TestServer } from '../../support/server'
import { ANN, createBoard, EDITOR, posts, STAFF, user, type Board } from './board'

let board: Board
beforeEach(() => void (board = createBoard()))
afterEach(() => board.client.close())

const statusOf = ({ headers }: Answered) => headers.get('cache-status')?.replace(/ttl=\d+/, 'ttl') ?? null
const HIT = 'auto-api; hit; ttl'
const STORED = 'auto-api; fwd=miss; stored'
const MISS = 'auto-api; fwd=miss'

async function read(server: TestServer, path: string, caller: Caller = ANN, headers: Record<string, string> = {}) {
  board.statements.length = 0
  const answered = await server.request('GET', `/api${path}`, { caller, headers })
  return { ...answered, cache: statusOf(answered), statements: [...board.statements] }
}

const ROUTES = [
  '/posts?limit=1',
  '/posts?cursor=&limit=1',
  '/posts/1',
  '/posts/1?include=comments,tags',
  '/posts/aggregate?aggregate=count',
  '/posts?groupBy=title&aggregate=count',
  '/posts/1/relations/tags',
  '/posts?filter={"team":{"name":"red"}}',
  '/comments?include=post',
  '/teams',
]

describe('a second request', () => {
  it.each(ROUTES)('gets the same bytes without a statement: %s', async (path) => {
    const server = await board.open({ reads: { comments: ['members'] } })
    const first = await read(server, path)
    expect([first.status, first.cache]).toEqual([200, STORED])
    const second = await read(server, path)
    expect(second).toMatchObject({ status: 200, text: first.text, cache: HIT })
    // The rule of comments does not run either.
    expect(second.statements).toEqual([])
    const names = (headers: Headers) => [...headers].filter(([name]) => name !== 'cache-status')
    expect(names(second.headers)).toEqual(names(first.headers))
    const plain = await read(await board.open(false), path)
    expect(plain.cache).toBeNull()
    expect([plain.text, plain.headers.get('etag')]).toEqual([second.text, second.headers.get('etag')])
  })

  it('gets a 304 for its tag, and HEAD the headers', async () => {
    const server = await board.open()
    const etag = (await read(server, '/posts')).headers.get('etag')!
    const again = await read(server, '/posts', ANN, { 'if-none-match': etag })
    expect([again.status, again.text, again.cache, again.headers.get('etag'), again.statements]).toEqual([304, '', HIT, etag, []])
    const head = await server.request('HEAD', '/api/posts', { caller: ANN })
    expect([head.status, head.text, statusOf(head), head.headers.get('etag')]).toEqual([200, '', HIT, etag])
    expect(head.headers.get('content-length')).toBe(String((await read(server, '/posts')).text.length))
  })

  it('can name its parameters in another order', async () => {
    const server = await board.open()
    await read(server, '/posts?limit=2&sort=title')
    expect((await read(server, '/posts?sort=title&limit=2')).cache).toBe(HIT)
    for (const other of [
      '/posts?sort=-title&limit=2',
      '/posts?sort=title&limit=1',
      '/posts?sort=title&limit=2&count=none',
      '/posts?limit=2&fields=id',
    ])
      expect((await read(server, other)).cache).toBe(STORED)
  })

  it('reads again when `ttl` has ended', async () => {
    const server = await board.open({ ttl: 1 })
    const first = await read(server, '/teams')
    board.client.exec('update teams set name = \'green\' where id = 1')
    expect((await read(server, '/teams')).text).toBe(first.text)
    await new Promise(resolve => setTimeout(resolve, 1_050))
    const later = await read(server, '/teams')
    expect(later.cache).toBe(STORED)
    expect(later.body.data[0].name).toBe('green')
  })

  it('of 1000 at the same time, one reads', async () => {
    const server = await board.open()
    board.statements.length = 0
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => server.request('GET', '/api/teams?count=none', { caller: ANN })))
    expect(board.statements).toHaveLength(1)
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  })
})

describe('another caller', () => {
  it.each<[what: string, caller: Caller]>([
    ['anonymous', { user: null }],
    ['with another role', user(1, 'acme', 'editor')],
    ['with another id', user(9)],
    ['with another tenant', user(1, 'globex')],
    ['with another permission', user(1, 'acme', 'writer', ['reader', 'x'])],
    ['with another property', { ...ANN, user: { ...ANN.user, plan: 'pro' } }],
    ['whose property has another type', { ...ANN, user: { ...ANN.user, id: '1' } }],
    ['with a tenant of the event', { ...ANN, tenantId: 'acme2' }],
    ['with a date', { ...ANN, user: { ...ANN.user, since: new Date(0) } }],
  ])('%s reads for itself', async (_what, caller) => {
    const server = await board.open()
    await read(server, '/teams')
    expect((await read(server, '/teams')).cache).toBe(HIT)
    expect((await read(server, '/teams', caller)).cache).toBe(STORED)
  })

  it('never sees fields or rows of the first', async () => {
    const server = await board.open()
    expect((await read(server, '/posts/1', EDITOR)).body.secret).toBe('s1')
    expect((await read(server, '/posts/1', ANN)).body.secret).toBeUndefined()
    expect((await read(server, '/posts/1', user(2, 'globex', 'editor'))).status).toBe(404)
  })

  it('is refused by the permission although the response is stored', async () => {
    const server = await board.open()
    expect((await read(server, '/tags', ANN)).cache).toBe(STORED)
    expect((await read(server, '/members', STAFF)).cache).toBe(STORED)
    expect((await read(server, '/members', ANN)).status).toBe(403)
    expect((await read(server, '/posts?includeDeleted=true', ANN)).status).toBe(403)
  })

  it.each<[what: string, user: object]>([
    ['an instance of a class', new class { id = 1 }()],
    ['a function', { id: 1, can: () => true }],
    ['a hidden property', Object.defineProperty({ id: 1 }, 'admin', { value: true })],
    ['a symbol', { id: 1, [Symbol('admin')]: true }],
    ['a map', { id: 1, roles: new Map([['a', 1]]) }],
    ['a cycle', (() => {
      const cycle: Record<string, unknown> = { id: 1 }
      cycle.self = cycle
      return cycle
    })()],
  ])('whose user contains %s gets no stored response', async (_what, own) => {
    const server = await board.open()
    for (let count = 0; count < 2; count++)
      expect((await read(server, '/teams', { user: own as Record<string, unknown>, permissions: [] })).cache).toBe(
        'auto-api; fwd=bypass; detail=context',
      )
  })
})

describe('a context with further keys', () => {
  const plans: AutoApiPlugin = { name: 'plans', extendContext: (ctx) => {
    Object.assign(ctx, { plan: { name: ctx.event.headers.get('x-plan'), seen: Math.random() } })
  } }

  it('is not stored', async () => {
    const server = await board.open({}, { plugins: [plans] })
    for (let count = 0; count < 2; count++) expect((await read(server, '/teams')).cache).toBe('auto-api; fwd=bypass; detail=context')
  })

  it('is stored by the parts that `vary` names', async () => {
    const server = await board.open({ vary: ['plan.name'] }, { plugins: [plans] })
    const send = async (plan: string) => (await read(server, '/teams', ANN, { 'x-plan': plan })).cache
    expect([await send('a'), await send('a'), await send('b'), await send('a')]).toEqual([STORED, HIT, STORED, HIT])
  })

  it('is stored if its metadata are not read, and each response has its own request id', async () => {
    const server = await board.open({}, { plugins: [requestMetadata()] })
    const [first, second] = [await read(server, '/teams'), await read(server, '/teams')]
    expect(second.cache).toBe(HIT)
    expect(first.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
  })

  it('is not stored if a rule reads its metadata', async () => {
    const byAddress: AutoApiPlugin = { name: 'by-address', rows: { teams: (_table, ctx) => void ctx.metadata?.ip } }
    const server = await board.open({}, { plugins: [requestMetadata(), byAddress] })
    for (let count = 0; count < 2; count++) expect((await read(server, '/teams')).cache).toBe(MISS)
    const varied = await board.open({ vary: ['metadata.ip'] }, { plugins: [requestMetadata(), byAddress] })
    expect([(await read(varied, '/teams')).cache, (await read(varied, '/teams')).cache]).toEqual([STORED, HIT])
  })
})

describe('the cache does not store', () => {
  const twice = async (server: TestServer, path: string, caller: Caller = ANN) => [
    (await read(server, path, caller)).cache,
    (await read(server, path, caller)).cache,
  ]

  it('errors', async () => {
    const server = await board.open()
    expect((await read(server, '/posts/99')).status).toBe(404)
    board.client.exec('insert into posts (id, title, organization_id) values (99, \'new\', \'acme\')')
    expect((await read(server, '/posts/99')).status).toBe(200)
  })

  it('resources that are not listed', async () => {
    const server = await board.open({ resources: ['posts'] })
    expect(await twice(server, '/teams')).toEqual([null, null])
    expect(await twice(server, '/posts')).toEqual([STORED, HIT])
  })

  it.each(['beforeGet', 'afterGet'])('responses of a resource with %s, unless `reads` lists it', async (hook) => {
    const hooks: AutoApiPlugin = { name: 'hooks', hooks: { teams: { [hook]: () => {} } } }
    expect(await twice(await board.open({}, { plugins: [hooks] }), '/teams/1')).toEqual([MISS, MISS])
    expect(await twice(await board.open({ reads: { teams: [] } }, { plugins: [hooks] }), '/teams/1')).toEqual([STORED, HIT])
  })

  it.each<[what: string, change: (event: H3Event<EventHandlerRequest>) => object]>([
    ['a cookie of the response', () => ({ headers: { 'Set-Cookie': 'a=1' } })],
    ['`no-store`', () => ({ headers: { 'cache-control': 'private, no-store' } })],
    ['a cookie of the event', (event) => {
      event.node.res.setHeader('set-cookie', 'a=1')
      return {}
    }],
    ['another status', () => ({ status: 203 })],
    ['text', () => ({ body: 'text' })],
    ['a stream', () => ({ body: (async function* () { yield 'x' })() })],
    ['a body of a class', () => ({ body: new class { id = 1 }() })],
  ])('a response with %s', async (_what, change) => {
    const inner: AutoApiPlugin = { name: 'inner', around: async (ctx, next) => ({ ...await next(), ...change(ctx.event) }) }
    const server = await board.open(false, { plugins: [responseCache(), inner] })
    expect((await twice(server, '/teams'))[1]).not.toBe(HIT)
  })

  it('tables that a plugin changes without reporting it', async () => {
    const silent = defineAutoApiPlugin({ name: 'silent', unreported: ['teams'] })
    const server = await board.open({}, { plugins: [silent] })
    expect(await twice(server, '/teams')).toEqual([MISS, MISS])
    expect(await twice(server, '/posts?include=team')).toEqual([MISS, MISS])
    expect(await twice(server, '/posts')).toEqual([STORED, HIT])
  })

  it('what other plugins add after it', async () => {
    let count = 0
    const adds: AutoApiPlugin = {
      name: 'adds',
      onResponse: (_ctx, response) => ({ ...response, body: { ...(response.body as object), count: ++count } }),
    }
    const server = await board.open({}, { plugins: [adds] })
    const [first, second] = [await read(server, '/teams'), await read(server, '/teams')]
    expect([first.body.count, second.body.count, second.cache]).toEqual([1, 2, HIT])
    expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'))
  })
})

describe('a write outdates', () => {
  const write = (server: TestServer, method: string, path: string, body?: unknown) =>
    server.request(method, `/api${path}`, { body, caller: STAFF })
  const changes: [what: string, path: string, run: (server: TestServer) => Promise<unknown>][] = [
    ['a create', '/posts', server => write(server, 'POST', '/posts', { title: 'new' })],
    ['an update', '/posts/1', server => write(server, 'PATCH', '/posts/1', { title: 'new' })],
    ['a delete with its cascade', '/comments', server => write(server, 'DELETE', '/posts/1')],
    ['a bulk update', '/posts?sort=title', server => write(server, 'PATCH', '/posts/bulk', { items: [{ id: 1, data: { title: 'new' } }] })],
    ['a link', '/posts?include=tags', server => write(server, 'POST', '/posts/1/relations/tags', { ids: [3] })],
    ['a write to an included table', '/posts?include=team', server => write(server, 'PATCH', '/teams/1', { name: 'new' })],
    ['a write to a filtered table', '/posts?filter={"team":{"name":"red"}}', server => write(server, 'PATCH', '/teams/1', { name: 'new' })],
    ['a write to a counted table', '/posts?counts=notes', server => write(server, 'POST', '/notes', { text: 'new', postId: 1 })],
    [
      'a write to a table whose rows a filter counts', '/posts?filter={"notes":{"$count":{"$gte":2}}}',
      server => write(server, 'POST', '/notes', { text: 'new', postId: 1 }),
    ],
    [
      'a write to a table whose rows a sort counts', '/posts?sort=notes.$count,id',
      server => write(server, 'POST', '/notes', { text: 'new', postId: 1 }),
    ],
    ['a write to a table that a rule reads in code', '/comments', server => write(server, 'POST', '/members', { userId: 1, teamId: 2 })],
  ]
  it.each(changes)('what was read: %s', async (_what, path, run) => {
    // Without `reads`, a rule in code makes a response depend on every table.
    const server = await board.open({ reads: { posts: [], comments: ['members'] } })
    const plain = await board.open(false)
    const before = await read(server, path)
    expect((await read(server, path)).cache).toBe(HIT)
    expect(await run(server)).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) as number })
    const after = await read(server, path)
    expect(after.cache).toBe(STORED)
    expect(after.text).not.toBe(before.text)
    expect(after.text).toBe((await read(plain, path)).text)
  })

  it('nothing if it is refused or a dry run', async () => {
    const server = await board.open()
    await read(server, '/posts')
    expect((await write(server, 'PATCH', '/posts/1', { title: 5 })).status).toBe(400)
    expect((await write(server, 'PATCH', '/posts/99', { title: 'x' })).status).toBe(404)
    expect((await write(server, 'PATCH', '/posts/1?dryRun=true', { title: 'x' })).status).toBe(200)
    expect((await write(server, 'PATCH', '/teams/1', { name: 'x' })).status).toBe(200)
    expect((await server.request('PATCH', '/api/posts/1', { body: { title: 'x' }, caller: { user: null } })).status).toBe(401)
    const again = await read(server, '/posts?limit=20')
    expect(again.cache).toBe(STORED)
    await read(server, '/teams')
    await write(server, 'DELETE', '/tags/3')
    expect((await read(server, '/teams')).cache).toBe(HIT)
  })

  it('everything if it is unknown whether it was committed', async () => {
    const broken: AutoApiPlugin = { name: 'broken', hooks: { tags: { afterCreate: () => {
      throw new Error('lost')
    } } } }
    const server = await board.open({}, { plugins: [broken] })
    await read(server, '/teams')
    expect((await write(server, 'POST', '/tags', { name: 'x' })).status).toBe(500)
    expect((await read(server, '/teams')).cache).toBe(STORED)
  })

  it('with `invalidateCache`, and with `reportChanges` in `atomicWrites`', async () => {
    let context: never
    const capturing = await board.open({}, { plugins: [{ name: 'capture', onCaller: (ctx: unknown) => void (context = ctx as never) }] })
    await read(capturing, '/posts')
    board.client.exec('update posts set title = \'behind\' where id = 1')
    expect((await read(capturing, '/posts')).body.data[0].title).toBe('first')
    await invalidateCache('posts')
    expect((await read(capturing, '/posts')).body.data[0].title).toBe('behind')
    await atomicWrites(context!, [
      (db: { update: (table: object) => { set: (values: object) => unknown } }) => db.update(posts).set({ title: 'atomic' }),
      reportChanges(context!, [{ resource: 'posts', kind: 'update', id: 1 }]),
    ] as never)
    expect((await read(capturing, '/posts')).body.data[0].title).toBe('atomic')
    await expect(invalidateCache('post')).rejects.toThrow(/no resource `post`\. Did you mean `posts`/)
  })
})

describe('the start fails', () => {
  it.each([
    [{ resources: ['post'] }, /responseCache\.resources` names `post`.* Did you mean `posts`/],
    [{ reads: { post: [] } }, /responseCache\.reads` names `post`/],
    [{ reads: { posts: ['team'] } }, /responseCache\.reads\.posts` names `team`/],
    [{ storage: 'nowhere' }, /Storage `nowhere` is not configured/],
  ])('with %j', async (options, message) => {
    await expect(board.open(options)).rejects.toThrow(message)
  })
})
