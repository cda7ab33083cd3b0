/**
 * Measures responses of the response cache, compared with handlers that send the same bytes from a map, and with the API without a cache.
 */
import { BARE, IMPLEMENTATIONS, type Implementation } from './implementations.ts'
import { measure, toTargets, type Effort, type Generator, type Target } from './measure.ts'
import { OPERATIONS, type BenchRequest, type Operation } from './operations.ts'
import type { Measured } from './report.ts'
import { startServer, type RunningServer } from './server.ts'
import type { Sample } from './dataset.ts'
import { buildOnce } from './variants.ts'
import { assertSameResponses, toFetchOptions } from './verify.ts'

const environment = () => ({ BENCH_CACHE: '1' })
const d = IMPLEMENTATIONS.find(({ key }) => key === 'd')!
const [LIST] = OPERATIONS as [Operation]

/** Handlers that send the stored bytes, at the least cost that a handler can have. */
const bare: Implementation = { ...BARE, environment }
const headers: Implementation = {
  ...d,
  key: 'headers',
  title: '`bare` with the headers of the API',
  posts: '/stored/headers/posts',
  environment,
}
const hit: Implementation = { ...d, key: 'hit', title: 'd with `responseCache`: the response is stored', environment }

/** The server with the cache and the handlers. The first one is the baseline. */
const IMPLEMENTATIONS_OF_CACHE: readonly Implementation[] = [
  bare,
  headers,
  { ...d, key: 'checked', title: '`bare` that looks up and checks the caller', posts: '/stored/checked/posts', environment },
  hit,
]

/** `list 20` from the cache. `--profile hit` profiles it. */
export const CACHED_LIST = { ...LIST, title: 'cached list 20', implementations: IMPLEMENTATIONS_OF_CACHE }

/** Compares on a build with ETags, which the handlers send too. */
export async function compareCache(database: string, sample: Sample, generator: Generator, effort: Effort): Promise<Measured[]> {
  const entry = buildOnce(CACHED_LIST.title, { BENCH_ETAG: 'on' })
  const server = await startServer({ ...hit, entry }, database)
  const ours = await startServer({ ...d, entry }, database)
  try {
    const own = IMPLEMENTATIONS_OF_CACHE.map(implementation =>
      ({ ...server, implementation, posts: server.posts.replace(hit.posts, implementation.posts) }))
    const servers = [...own, ours]
    // These requests also fill the cache and the maps.
    const bytes = await assertSameResponses(CACHED_LIST, servers, sample)
    await assertHits(server, sample)
    console.info(`measuring ${CACHED_LIST.title} …`)
    const targets: Target[] = toTargets(CACHED_LIST, servers, sample)
    const cached = { operation: CACHED_LIST.title, bytes, readings: await measure(targets, generator, effort) }
    console.info(`measuring ${UNMODIFIED} …`)
    const unmodified = await unmodifiedTargets(
      servers.filter(({ implementation: { key } }) => ['headers', 'hit', 'd'].includes(key)),
      sample,
    )
    return [cached, { operation: UNMODIFIED, bytes: 0, readings: await measure(unmodified, generator, effort) }]
  }
  finally {
    await Promise.all([server.stop(), ours.stop()])
  }
}

/** The total from the cache, and the page from the database: the cache is too small for pages. */
export const KNOWN_TOTAL: Operation = {
  ...OPERATIONS.find(({ title }) => title === 'list 20 + total')!,
  title: 'list 20 + total, asked again',
}

/** Compares with a handwritten handler on the same file: the checks of other operations have written rows into the copies. */
export async function compareKnownTotals(database: string, sample: Sample, generator: Generator, effort: Effort): Promise<Measured> {
  const implementation = { ...d, title: 'd with `responseCache`: only totals are stored', environment: () => ({ BENCH_CACHE: 'totals' }) }
  const server = await startServer(implementation, database)
  const baseline = await startServer(IMPLEMENTATIONS[0], database)
  try {
    const servers = [baseline, server]
    const bytes = await assertSameResponses(KNOWN_TOTAL, servers, sample)
    for (const request of KNOWN_TOTAL.requests(sample)) {
      const status = await cacheStatus(server, request)
      if (status?.includes('hit')) throw new Error(`posts${request.path}: ${status}. The page must come from the database.`)
    }
    console.info(`measuring ${KNOWN_TOTAL.title} …`)
    return { operation: KNOWN_TOTAL.title, bytes, readings: await measure(toTargets(KNOWN_TOTAL, servers, sample), generator, effort) }
  }
  finally {
    await Promise.all([baseline.stop(), server.stop()])
  }
}

const UNMODIFIED = `${CACHED_LIST.title}, 304`

/** The same requests with the tag of the response that the client has. */
async function unmodifiedTargets(servers: readonly RunningServer[], sample: Sample): Promise<Target[]> {
  return Promise.all(toTargets(CACHED_LIST, servers, sample).map(async target => ({
    ...target,
    requests: await Promise.all(target.requests.map(async (request) => {
      const { headers } = await fetch(target.server.posts + request.path, toFetchOptions(request))
      return { ...request, ifNoneMatch: headers.get('etag')! }
    })),
  })))
}

/** @throws When a response does not come from the cache. */
async function assertHits(server: RunningServer, sample: Sample): Promise<void> {
  for (const request of CACHED_LIST.requests(sample)) {
    const status = await cacheStatus(server, request)
    if (!status?.startsWith('auto-api; hit')) throw new Error(`posts${request.path}: ${status} is no hit.`)
  }
}

const cacheStatus = async ({ posts }: RunningServer, request: BenchRequest) =>
  (await fetch(posts + request.path, toFetchOptions(request))).headers.get('cache-status')
