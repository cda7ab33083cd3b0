/** Measures a page that the server renders with three composables, compared with the same requests in `useAsyncData`. */
import { IMPLEMENTATIONS, type Implementation } from './implementations.ts'
import { measure, type Effort, type Generator, type Target } from './measure.ts'
import type { BenchRequest } from './operations.ts'
import type { Measured } from './report.ts'
import { startServer } from './server.ts'
import type { Sample } from './dataset.ts'
import { toFetchOptions } from './verify.ts'

export const PAGE = 'page with three composables'

/** Pages of `bench/app/pages`, without `with-`. The first one is the baseline. */
const PAGES = ['fetch', 'composables']

/** A page takes some milliseconds: its code needs more time until it is optimized, and a round until it has enough responses. */
const PAGE_EFFORT = { seconds: 3, warmUp: 8 }

/** A server that cannot open a connection: its pages have no posts if they request them over a socket. */
const NO_CONNECTIONS = `data:text/javascript,${encodeURIComponent(`
  import { Socket } from 'node:net'
  Socket.prototype.connect = () => { throw new Error('The page opens a connection.') }
`)}`

const requestsOf = ({ callers }: Sample): readonly BenchRequest[] =>
  callers.flatMap(({ id, visible }) => visible.slice(0, 10).map(post => ({ caller: id, path: `?post=${post}` })))

export async function comparePages(database: string, sample: Sample, generator: Generator, effort: Effort): Promise<Measured> {
  const implementation: Implementation = { ...IMPLEMENTATIONS.find(({ key }) => key === 'd')!, posts: '' }
  const server = await startServer(implementation, database, [`--import=${NO_CONNECTIONS}`])
  try {
    const requests = requestsOf(sample)
    const targets = PAGES.map((key): Target => ({ key, server: { ...server, posts: `${server.posts}/with-${key}` }, requests }))
    const bytes = await assertSameContent(targets)
    console.info(`measuring ${PAGE} …`)
    return { operation: PAGE, bytes, readings: await measure(targets, generator, { ...effort, ...PAGE_EFFORT }) }
  }
  finally {
    await server.stop()
  }
}

/**
 * @returns the mean size of the content in bytes.
 * @throws When the pages show something else, or no posts. The data that they send to the browser can differ.
 */
async function assertSameContent(targets: readonly Target[]): Promise<number> {
  let bytes = 0
  const { requests } = targets[0]!
  for (const request of requests) {
    const [expected, found] = await Promise.all(targets.map(async ({ server }) => {
      const response = await fetch(server.posts + request.path, toFetchOptions(request))
      return /<main>.*<\/main>/s.exec(await response.text())?.[0]
    }))
    const texts = expected?.match(/<p>[^<]+<\/p>/g)?.length
    if (texts !== 40 || expected !== found) throw new Error(`The pages of ${request.path} differ.\n${expected}\n${found}`)
    bytes += Buffer.byteLength(expected!)
  }
  return Math.round(bytes / requests.length)
}
