/** Measures responses of the response cache, compared with handlers that send the same bytes from a map, and with the API without a cache. */
import { IMPLEMENTATIONS, type Implementation } from './implementations.ts'
import { measure, toTargets, type Effort, type Generator, type Target } from './measure.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import type { Measured } from './report.ts'
import { startServer, type RunningServer } from './server.ts'
import type { Sample } from './dataset.ts'
import { assertSameResponses } from './verify.ts'

const environment = () => ({ BENCH_CACHE: '1' })
const d = IMPLEMENTATIONS.find(({ key }) => key === 'd')!
const [LIST] = OPERATIONS as [Operation]

/** The server with the cache and the handlers. The first one is the baseline. */
const IMPLEMENTATIONS_OF_CACHE: readonly Implementation[] = [
  { ...d, key: 'bare', title: 'a handler that sends the stored bytes to everybody', posts: '/stored/bare/posts', environment },
  { ...d, key: 'checked', title: '`bare` that looks up and checks the caller', posts: '/stored/checked/posts', environment },
  { ...d, key: 'hit', title: 'd with `responseCache`: the response is stored', environment },
]

/** `list 20` from the cache. `--profile hit` profiles it. */
export const CACHED_LIST = { ...LIST, title: 'cached list 20', implementations: IMPLEMENTATIONS_OF_CACHE }

export async function compareCache(ours: RunningServer, database: string, sample: Sample, generator: Generator, effort: Effort): Promise<Measured> {
  const hit = IMPLEMENTATIONS_OF_CACHE.at(-1)!
  const server = await startServer(hit, database)
  try {
    const own = IMPLEMENTATIONS_OF_CACHE.map(implementation =>
      ({ ...server, implementation, posts: server.posts.replace(hit.posts, implementation.posts) }))
    const servers = [...own, ours]
    // These requests also fill the cache and the maps.
    const bytes = await assertSameResponses(CACHED_LIST, servers, sample)
    await assertHits(server, sample)
    console.info(`measuring ${CACHED_LIST.title} …`)
    const targets: Target[] = toTargets(CACHED_LIST, servers, sample)
    return { operation: CACHED_LIST.title, bytes, readings: await measure(targets, generator, effort) }
  }
  finally {
    await server.stop()
  }
}

/** @throws When a response does not come from the cache. */
async function assertHits({ posts }: RunningServer, sample: Sample): Promise<void> {
  for (const { path, caller } of CACHED_LIST.requests(sample)) {
    const { headers } = await fetch(posts + path, { headers: { 'x-caller': String(caller) } })
    const status = headers.get('cache-status')
    if (!status?.startsWith('auto-api; hit')) throw new Error(`posts${path}: ${status} is no hit.`)
  }
}
