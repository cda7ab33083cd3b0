/**
 * Random requests of many callers, at the same time: when they are done, each response with the cache equals the one without it. Faults
 * that
 * are planted in the cache are found.
 */
import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import type { Change } from '../../../src/runtime/server/core/extensions/changes'
import type { Method } from '../../../src/runtime/shared/routes'
import { dataExport, type ResponseCacheOptions } from '../../../src/runtime/plugins'
import * as keys from '../../../src/runtime/plugins/response-cache/server/key'
import * as totals from '../../../src/runtime/server/core/read/total'
import * as dependencies from '../../../src/runtime/plugins/response-cache/server/dependencies'
import type { Store } from '../../../src/runtime/plugins/response-cache/server/store'
import * as cacheServer from '../../../src/runtime/plugins/response-cache/server/index'
import * as memory from '../../../src/runtime/plugins/response-cache/server/memory'
import type { AutoApiPlugin } from '../../../src/runtime/server/define'
import type { Caller, TestServer } from '../../support/server'
import type { posts, Board } from './board'
import { createBoard, user } from './board'
import { byTier, isFull } from '../../support/tiers'

const RUNS = Number(process.env.RUNS ?? byTier({ push: 30, full: 1000, release: 10_000 }))

const CALLERS: readonly Caller[] = [
  { user: null },
  user(1),
  user(2),
  user(1, 'globex'),
  user(1, 'acme', 'editor'),
  user(1, 'acme', 'writer', []),
  user(3, 'acme', 'editor', ['reader', 'staff']),
  user(3, 'acme', 'editor', ['*']),
  user(2, 'globex', 'editor', ['reader', 'staff']),
]

/** The plan of each caller comes from a header, so that the user does not contain it. A rule of posts reads it. */
const PLANS = ['free', 'pro']
const plans: AutoApiPlugin = {
  name: 'plans',
  extendContext: ctx => void Object.assign(ctx, { plan: { name: ctx.event.headers.get('x-plan') } }),
}
const byPlan: AutoApiPlugin = {
  name: 'by-plan',
  rows: {
    posts: (table, ctx) => ((ctx as { plan?: { name?: string } }).plan?.name === 'pro' ? eq((table as typeof posts).id, 1) : undefined),
  },
}

const id = fc.integer({ min: 1, max: 5 })
const word = fc.constantFrom('red', 'blue', 'hidden', 'x')
const include = fc.constantFrom('', '&include=comments', '&counts=comments', '&counts=tags,comments', '&include=team', '&include=tags', '&include=comments,tags')

const path = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        'sort=-id',
        'sort=title',
        'fields=id,title',
        'includeDeleted=true',
        'filter={"team":{"name":"red"}}',
        'filter={"comments":{"text":"x"}}',
        'filter={"notes":{"$count":{"$gte":2}}}',
        'sort=-notes.$count,id',
        'limit=1&cursor=',
        'filter={"score":{"$gt":5}}',
      ),
      include,
    )
    .map(([query, include]) => `/posts?${query}${include}`),
  fc.tuple(id, include).map(([id, include]) => `/posts/${id}?${include}`),
  // Some of them have the same total.
  fc
    .tuple(fc.constantFrom('', '&filter={"title":"first"}', '&filter={"title":"red"}'), fc.constantFrom(1, 2))
    .map(([filter, page]) => `/posts?limit=1&page=${page}${filter}`),
  fc.constantFrom(
    '/comments',
    '/comments?include=post',
    '/tags',
    '/teams?include=posts',
    '/members',
    '/posts/aggregate?aggregate=count',
    '/posts?groupBy=title&aggregate=count',
    '/comments/aggregate?aggregate=count',
    '/posts/export?format=csv',
    '/notes',
    '/notes/2',
    '/notes/aggregate?aggregate=count',
  ),
  id.map(id => `/posts/${id}/relations/tags`),
  id.map(id => `/posts/${id}/relations/comments`),
  id.map(id => `/tags/${Math.min(id, 3)}/relations/posts`),
)

type Write = readonly [method: Method, path: string, body?: unknown]
const write: fc.Arbitrary<Write> = fc.oneof(
  fc
    .tuple(word, fc.option(id))
    .map(([title, teamId]): Write => ['POST', '/posts', { title, score: 0, teamId: teamId && Math.min(teamId, 2) }]),
  fc.tuple(id, word, fc.integer({ min: 4, max: 7 })).map(([id, title, score]): Write => ['PATCH', `/posts/${id}`, { title, score }]),
  fc.tuple(id, fc.boolean()).map(([id, force]): Write => ['DELETE', `/posts/${id}${force ? '?force=true' : ''}`]),
  id.map((id): Write => ['POST', `/posts/${id}/restore`]),
  fc.uniqueArray(id, { minLength: 1 }).map((ids): Write => ['DELETE', '/posts/bulk', { ids }]),
  fc.tuple(word, id).map(([text, postId]): Write => ['POST', '/comments', { text, postId }]),
  id.map((id): Write => ['DELETE', `/comments/${id}`]),
  fc.tuple(id, word).map(([id, name]): Write => ['PATCH', `/tags/${Math.min(id, 3)}`, { name }]),
  fc.tuple(id, fc.uniqueArray(fc.integer({ min: 1, max: 3 }))).map(([id, ids]): Write => ['PUT', `/posts/${id}/relations/tags`, { ids }]),
  fc.tuple(fc.integer({ min: 1, max: 2 }), word).map(([id, name]): Write => ['PATCH', `/teams/${id}`, { name }]),
  fc
    .tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 2 }))
    .map(([userId, teamId]): Write => ['POST', '/members', { userId, teamId }]),
  id.map((id): Write => ['DELETE', `/members/${id}`]),
  fc
    .array(fc.tuple(id, word), { minLength: 1, maxLength: 3 })
    .map((items): Write => ['PATCH', '/posts/bulk', { items: items.map(([id, title]) => ({ id, data: { title } })) }]),
)

const script = fc.record({
  paths: fc.array(path, { minLength: 1, maxLength: 3 }),
  /** Indexes of callers. The last ones are the first callers with another plan. */
  callers: fc.uniqueArray(fc.nat(CALLERS.length + 3), { minLength: 2, maxLength: 4 }),
  /** Requests at the same time: reads by caller and path, and writes. */
  rounds: fc.array(fc.record({
    reads: fc.array(fc.tuple(fc.nat(3), fc.nat(2)), { minLength: 1, maxLength: 6 }),
    writes: fc.array(fc.tuple(fc.nat(CALLERS.length - 1), write), { maxLength: 2 }),
  }), { minLength: 2, maxLength: 4 }),
  declared: fc.boolean(),
})

type Script = typeof script extends fc.Arbitrary<infer T> ? T : never

interface Opened {
  readonly board: Board
  readonly plain: TestServer
  readonly cached: TestServer
}

/** The servers are opened once: most of the time would pass with opening them. Stored responses of earlier scripts stay. */
const opened = new Map<string, Promise<Opened>>()
/** The stores of the open servers. */
const stores: Store[] = []
let raises: (name: string) => boolean = () => true
let isReported: (change: Change) => boolean = () => true
/** Whether lists of linked records are known as such. */
let isOfRecord = true
let hits = 0

const { createMemoryStore } = memory
vi.spyOn(memory, 'createMemoryStore').mockImplementation((...options) => {
  const store = createMemoryStore(...options)
  stores.push(store)
  return { ...store, raise: names => store.raise(names.filter(raises)) }
})

const { findTotal } = totals
vi.spyOn(totals, 'findTotal').mockImplementation((plan, call) => findTotal(isOfRecord ? plan : { ...plan, ofRecord: undefined }, call))

const { createResponseCache } = cacheServer
vi.spyOn(cacheServer, 'createResponseCache').mockImplementation((...options) => {
  const cache = createResponseCache(...options)
  return { ...cache, onCommit: changes => cache.onCommit(changes.filter(isReported)) }
})

async function open(options: ResponseCacheOptions): Promise<Opened> {
  const board = createBoard()
  const plugins = [dataExport(), plans, byPlan]
  return { board, plain: await board.open(false, { plugins }), cached: await board.open({ ...options, vary: ['plan.name'] }, { plugins }) }
}

/** With declared reads, a write outdates only what was read from its tables. */
const openWith = (declared: boolean) => {
  const key = String(declared)
  if (!opened.has(key))
    opened.set(key, open(declared ? { reads: { posts: [], comments: ['members'], tags: [], teams: [], notes: [] } } : {}))
  return opened.get(key)!
}

async function send(server: TestServer, caller: number, method: string, path: string, body?: unknown) {
  const plan = { 'x-plan': PLANS[Math.floor(caller / CALLERS.length)]! }
  const { status, text, headers } = await server.request(method, `/api${path}`, {
    caller: CALLERS[caller % CALLERS.length]!,
    body,
    headers: plan,
  })
  if (headers.get('cache-status')?.includes('hit')) hits++
  return { status, text, etag: headers.get('etag') }
}

/** Runs the requests of each round at the same time. Then it compares every path for every caller with the cache and without. */
async function assertTransparent({ paths, callers, rounds, declared }: Script): Promise<void> {
  const { board, plain, cached } = await openWith(declared)
  board.reset()
  for (const store of stores) void store.raiseAll()
  for (const { reads, writes } of rounds) {
    await Promise.all([
      ...reads.map(([caller, path]) => send(cached, callers[caller % callers.length]!, 'GET', paths[path % paths.length]!)),
      ...writes.map(([caller, write]) => send(cached, caller, ...write)),
    ])
    for (const path of paths) {
      for (const caller of callers)
        expect(await send(cached, caller, 'GET', path)).toEqual(await send(plain, caller, 'GET', path))
    }
  }
}

const property = fc.asyncProperty(script, assertTransparent)

it(`answers as without the cache, in ${RUNS} random interleavings`, async () => {
  hits = 0
  await fc.assert(property, { numRuns: RUNS })
  expect(hits).toBeGreaterThan(RUNS)
}, 3_600_000)

it.each<[fault: string, plant: () => void]>([
  ['a key without the role', () => {
    const { keyOf } = keys
    vi.spyOn(keys, 'keyOf').mockImplementation((ctx, ...rest) => {
      const user = ctx.user && { ...ctx.user, role: undefined }
      return keyOf(
        Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(ctx), user: { value: user, enumerable: true } }) as typeof ctx,
        ...rest,
      )
    })
  }],
  ['a key without the tenant', () => {
    const { keyOf } = keys
    vi.spyOn(keys, 'keyOf').mockImplementation((ctx, ...rest) => {
      const user = ctx.user && { ...ctx.user, organizationId: undefined }
      return keyOf(
        Object.defineProperties(
          {},
          {
            ...Object.getOwnPropertyDescriptors(ctx),
            user: { value: user, enumerable: true },
            tenant: { value: undefined, enumerable: true },
          },
        ) as typeof ctx,
        ...rest,
      )
    })
  }],
  ['a key without a part that `vary` names', () => {
    const { keyOf } = keys
    vi.spyOn(keys, 'keyOf').mockImplementation((ctx, route, { names }, build) => keyOf(ctx, route, { names, paths: [] }, build))
  }],
  ['a response that does not depend on what its rules read', () => {
    vi.spyOn(dependencies, 'dependenciesOf').mockImplementation((_api, _root, reads) => reads)
  }],
  ['a response that does not depend on its includes', () => {
    vi.spyOn(dependencies, 'dependenciesOf').mockImplementation((_api, root) => [root])
  }],
  ['a total of linked records that does not depend on the links', () => {
    isOfRecord = false
  }],
  ['a commit that does not report its cascade', () => {
    isReported = ({ cascaded }) => !cascaded
  }],
])('finds %s', async (fault, plant) => {
  plant()
  try {
    const { failed, numRuns } = await fc.check(property, { numRuns: 400, endOnFailure: true, seed: 3 })
    if (isFull) console.info(`${fault}: found after ${numRuns} runs`)
    expect(failed).toBe(true)
  }
  finally {
    vi.mocked(keys.keyOf).mockRestore?.()
    isOfRecord = true
    vi.mocked(dependencies.dependenciesOf).mockRestore?.()
    isReported = () => true
  }
}, 120_000)

it('finds a key of totals without the values of the filter', async () => {
  const paths = ['first', 'red'].map(title => `/posts?filter={"title":"${title}"}`)
  const script: Script = { paths, callers: [4, 4], rounds: [{ reads: [[0, 0]], writes: [] }], declared: true }
  await assertTransparent(script)
  const { totalKeyOf } = keys
  vi.spyOn(keys, 'totalKeyOf').mockImplementation((ctx, vary, build, { text }) => totalKeyOf(ctx, vary, build, { text, values: [] }))
  try {
    await expect(assertTransparent(script)).rejects.toThrow(/expected/)
  }
  finally {
    vi.mocked(keys.totalKeyOf).mockRestore()
  }
})

it.each<[what: string, name: string, path: string, write: Write]>([
  ['a junction table', 'table:post_tags', '/posts/1/relations/tags', ['PUT', '/posts/1/relations/tags', { ids: [3] }]],
  ['an included table', 'teams', '/posts/1?include=team', ['PATCH', '/teams/1', { name: 'x' }]],
  ['a table that a rule reads', 'members', '/comments', ['POST', '/members', { userId: 3, teamId: 1 }]],
])('finds writes to %s that outdate nothing', async (_what, name, path, write) => {
  const staff = 6
  const script: Script = {
    paths: [path],
    callers: [staff, staff],
    rounds: [
      { reads: [[0, 0]], writes: [] },
      { reads: [], writes: [[staff, write]] },
    ],
    declared: true,
  }
  await assertTransparent(script)
  raises = raised => raised !== name
  try {
    await expect(assertTransparent(script)).rejects.toThrow(/expected/)
  }
  finally {
    raises = () => true
  }
})
