/** What a long life costs: the heap after a forced collection, early and late, under requests of all kinds and made-up ones. */
import { Agent, request as send } from 'node:http'
import { CONTESTANTS } from './contestants.ts'
import type { Sample } from './dataset.ts'
import { OPERATIONS, type Ask } from './operations.ts'
import { createRandom, type Random } from './random.ts'
import { startServer } from './server.ts'
import { toRequest } from './verify.ts'

const EARLY = 20_000
const LATE = 200_000
const GOAL = 1.05
const CONNECTIONS = 20
const COLUMNS = ['id', 'title', 'slug', 'excerpt', 'status', 'featured', 'views', 'publishedAt', 'createdAt', 'updatedAt', 'authorId', 'organizationId']
const OPERATORS = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$like', '$nonsense']

/** Prints both readings and their ratio. @throws When the heap has grown beyond the goal. */
export async function soak(database: string, sample: Sample): Promise<void> {
  const contestant = CONTESTANTS.find(({ key }) => key === 'd')!
  const server = await startServer(contestant, database, ['--expose-gc'])
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const random = createRandom(1)
  const usual = OPERATIONS.filter(({ writes }) => writes === undefined).flatMap(({ asks }) => asks(sample))
  const statuses = new Map<number, number>()
  let sent = 0
  /** @param invented of how many requests one is made up by a client that asks for what nobody else does. */
  const until = (count: number, invented: number) => Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    while (sent < count) {
      sent++
      const status = await exchange(server.posts, agent, random.below(invented) === 0 ? invent(random, sample) : random.pick(usual))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }))
  const heap = async () => {
    const { heapUsed } = await (await fetch(new URL('/heap', server.posts))).json() as { heapUsed: number }
    console.info(`${sent} requests: ${(heapUsed / 2 ** 20).toFixed(2)} MiB`)
    return heapUsed
  }
  try {
    // Every other one: what is kept of shapes is bounded, and full before the first reading. What grows after that has no bound.
    await until(EARLY, 2)
    const early = await heap()
    await until(LATE, 10)
    const ratio = await heap() / early
    console.info(`ratio ${ratio.toFixed(3)}, goal ${GOAL} or less; answers by status: ${[...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')}`)
    if (ratio > GOAL) throw new Error('the heap grows')
  }
  finally {
    agent.destroy()
    await server.stop()
  }
}

/** Random fields, filters, sorts and bad parameters: hardly ever the same shape twice. */
function invent({ below, pick }: Random, { callers }: Sample): Ask {
  const some = () => Array.from({ length: 1 + below(6) }, () => pick(COLUMNS))
  const name = () => `x${below(1_000_000)}`
  const value = () => pick<unknown>([below(1000), name(), null, true, [below(9), below(9)]])
  const parameters: Record<string, () => string> = {
    fields: () => [...some(), ...below(4) === 0 ? [name()] : []].join(),
    sort: () => some().map(column => below(2) === 0 ? `-${column}` : column).join(),
    filter: () => JSON.stringify(Object.fromEntries(some().map(column => [column, below(2) === 0 ? value() : { [pick(OPERATORS)]: value() }]))),
    limit: () => String(below(150)),
    page: () => String(below(50) - 2),
    include: () => pick(['author', `author[${pick(['id', 'name', 'email'])}]`, name()]),
    cursor: name,
    count: () => pick(['none', 'exact', name()]),
    [name()]: name,
  }
  const names = Object.keys(parameters)
  const chosen = new Set(Array.from({ length: 1 + below(4) }, () => pick(names)))
  return { caller: pick(callers).id, path: below(20) === 0 ? `/${name()}` : `?${new URLSearchParams([...chosen].map(key => [key, parameters[key]!()] as [string, string]))}` }
}

function exchange(posts: string, agent: Agent, ask: Ask): Promise<number> {
  const { headers, method } = toRequest(ask)
  return new Promise((resolve, reject) => {
    send(posts + ask.path, { agent, method, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode!))
    }).once('error', reject).end()
  })
}
