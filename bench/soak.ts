/** Checks that the heap does not grow: its size after 20 000 and after 200 000 requests, some of them with random shapes. */
import { Agent, request as send } from 'node:http'
import { IMPLEMENTATIONS } from './implementations.ts'
import type { Sample } from './dataset.ts'
import { OPERATIONS, type BenchRequest } from './operations.ts'
import { createRandom, type Random } from './random.ts'
import { startServer } from './server.ts'
import { toFetchOptions } from './verify.ts'

const EARLY = 20_000
const LATE = 200_000
const MAX_RATIO = 1.05
const CONNECTIONS = 20
const COLUMNS = [
  'id',
  'title',
  'slug',
  'excerpt',
  'status',
  'featured',
  'views',
  'publishedAt',
  'createdAt',
  'updatedAt',
  'authorId',
  'organizationId',
]
const OPERATORS = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$like', '$nonsense']

/** Prints both heap sizes and their ratio. @throws When the ratio exceeds the limit. */
export async function soak(database: string, sample: Sample): Promise<void> {
  const implementation = IMPLEMENTATIONS.find(({ key }) => key === 'd')!
  const server = await startServer(implementation, database, ['--expose-gc'])
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const random = createRandom(1)
  const usual = OPERATIONS.filter(({ writes }) => writes === undefined).flatMap(({ requests }) => requests(sample))
  const statuses = new Map<number, number>()
  let sent = 0
  /** @param randomShare one of this many requests has a random shape */
  const until = (count: number, randomShare: number) => Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    while (sent < count) {
      sent++
      const status = await exchange(
        server.posts,
        agent,
        random.below(randomShare) === 0 ? randomRequest(random, sample) : random.pick(usual),
      )
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }))
  const heap = async () => {
    const { heapUsed } = await (await fetch(new URL('/heap', server.posts))).json() as { heapUsed: number }
    console.info(`${sent} requests: ${(heapUsed / 2 ** 20).toFixed(2)} MiB`)
    return heapUsed
  }
  try {
    // Every second request is random: this fills the bounded caches before the first measurement. Whatever grows later has no bound.
    await until(EARLY, 2)
    const early = await heap()
    await until(LATE, 10)
    const ratio = await heap() / early
    const counts = [...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')
    console.info(`ratio ${ratio.toFixed(3)}, at most ${MAX_RATIO}; responses by status: ${counts}`)
    if (ratio > MAX_RATIO) throw new Error('The heap grows.')
  }
  finally {
    agent.destroy()
    await server.stop()
  }
}

/** Random fields, filters, sorts and invalid parameters. A shape hardly ever repeats. */
function randomRequest({ below, pick }: Random, { callers }: Sample): BenchRequest {
  const some = () => Array.from({ length: 1 + below(6) }, () => pick(COLUMNS))
  const name = () => `x${below(1_000_000)}`
  const value = () => pick<unknown>([below(1000), name(), null, true, [below(9), below(9)]])
  const parameters: Record<string, () => string> = {
    fields: () => [...some(), ...(below(4) === 0 ? [name()] : [])].join(),
    sort: () =>
      some()
        .map(column => (below(2) === 0 ? `-${column}` : column))
        .join(),
    filter: () =>
      JSON.stringify(Object.fromEntries(some().map(column => [column, below(2) === 0 ? value() : { [pick(OPERATORS)]: value() }]))),
    limit: () => String(below(150)),
    page: () => String(below(50) - 2),
    include: () => pick(['author', `author[${pick(['id', 'name', 'email'])}]`, name()]),
    cursor: name,
    count: () => pick(['none', 'exact', name()]),
    [name()]: name,
  }
  const names = Object.keys(parameters)
  const chosen = new Set(Array.from({ length: 1 + below(4) }, () => pick(names)))
  return {
    caller: pick(callers).id,
    path: below(20) === 0 ? `/${name()}` : `?${new URLSearchParams([...chosen].map(key => [key, parameters[key]!()] as [string, string]))}`,
  }
}

/** Sends a request and returns its status. */
function exchange(posts: string, agent: Agent, request: BenchRequest): Promise<number> {
  const { headers, method } = toFetchOptions(request)
  return new Promise((resolve, reject) => {
    send(posts + request.path, { agent, method, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode!))
    }).once('error', reject).end()
  })
}
