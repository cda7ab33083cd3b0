/**
 * Measures what several servers cost: processor time and statements per request of three built servers, and of one, with the same load on
 * each server. Both have Redis, a replica and the same plugins: limits, tokens, keys, audit log, cache.
 */
import { readFileSync } from 'node:fs'
import { Agent, request as send } from 'node:http'
import { createJiti } from 'jiti'
import { median } from './median.ts'

const ROUNDS = 9
/** Requests to each server in a round. */
const REQUESTS = 400
/** Requests to each server per second. A busy server needs less time for each of them, because it wakes up for several at once. */
const RATE = 80
/** Requests to each server before the first round, so that its code is compiled. */
const WARM_UP = 6_000
const CONNECTIONS = 20
const COUNT = 3
const MAX_RATIO = 1.15
const MEMBER: Record<string, string> = { 'x-caller': JSON.stringify({ user: { id: 100, organizationId: 1 } }) }

/** The parts of the tests' code that this file uses. */
interface Part {
  readonly url: string
  readonly port: number
  readonly end: () => unknown
}

interface Orders {
  readonly database: { readonly name: string, readonly query: (sql: string) => Promise<unknown> }
  readonly servers: { readonly url: string, readonly pid: number }[]
  readonly start: (env?: Record<string, string>) => Promise<{ readonly url: string, readonly pid: number }>
  readonly stop: () => Promise<void>
}

interface Support {
  readonly startOrders: (options: { count: number, env: Record<string, string> }) => Promise<Orders>
  readonly startRedis: () => Promise<Part>
  readonly startReplica: () => Promise<Part>
}

/** A kind of load. The first one shows what several processes cost without the API. */
interface Kind {
  readonly title: string
  readonly requestOf: (index: number, token: string) => Sent
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: object
}

interface Reading {
  readonly cpu: number
  readonly statements: number
}

/** Prints the readings and their ratios. @throws When a ratio of the API is too high, or a request fails. */
export async function compareServers(): Promise<void> {
  if (process.platform !== 'linux') throw new Error('The processor time of a server can be read on Linux only.')
  const { startOrders, startRedis, startReplica } = await load()
  const end: (() => unknown)[] = []
  try {
    const redis = await startRedis()
    end.push(redis.end)
    const replica = await startReplica()
    end.push(replica.end)
    const groups = await Promise.all([1, COUNT].map(async (count) => {
      const orders = await startOrders({ count: 0, env: { ORDERS_REDIS_URL: redis.url } })
      end.push(orders.stop)
      await orders.database.query('insert into orders (organization_id, name) select 1, \'order \' || n from generate_series(1, 1000) n')
      const env = { ORDERS_REPLICA_URL: `postgres://postgres@127.0.0.1:${replica.port}/${orders.database.name}` }
      for (let index = 0; index < count; index++) orders.servers.push(await orders.start(env))
      return {
        servers: orders.servers,
        token: await createToken(orders.servers[0]!.url),
        readings: new Map(KINDS.map(kind => [kind, [] as Reading[]])),
      }
    }))
    for (const { servers, token } of groups) for (const kind of KINDS) await run(kind, servers, token, WARM_UP * servers.length)
    // In turns, so that the machine is as busy for the one as for the other.
    for (let round = 0; round < ROUNDS; round++) {
      for (const { servers, token, readings } of round % 2 === 0 ? groups : groups.toReversed()) {
        for (const kind of KINDS) {
          const before = await readAll(servers)
          const requests = REQUESTS * servers.length
          await run(kind, servers, token, requests, RATE * servers.length)
          const after = await readAll(servers)
          readings
            .get(kind)!
            .push({ cpu: (1000 * (after.cpu - before.cpu)) / requests, statements: (after.statements - before.statements) / requests })
        }
      }
    }
    print(groups.map(({ readings }) => readings))
  }
  finally {
    for (const step of end.reverse()) await step()
  }
}

/** @param groups the readings of one server, and those of several */
function print(groups: readonly ReadonlyMap<Kind, readonly Reading[]>[]): void {
  console.info(
    `| per request, median of ${ROUNDS} rounds of ${REQUESTS} requests to each server, ${RATE} per second | 1 server | ${COUNT} servers | ratio |\n|---|--:|--:|--:|`,
  )
  const ratios = KINDS.map(kind => (['cpu', 'statements'] as const).map((name) => {
    const [one, several] = groups.map(readings => median(readings.get(kind)!.map(reading => reading[name]))) as [number, number]
    const [title, unit] = name === 'cpu' ? ['processor time', ' ms'] : ['statements', '']
    console.info(
      `| ${kind.title}: ${title} of all servers | ${one.toFixed(2)}${unit} | ${several.toFixed(2)}${unit} | ${(several / one).toFixed(2)} |`,
    )
    return several / one
  })) as [number[], number[]]
  const exceeded = ['processor time', 'statements'].filter((_, index) => ratios[1][index]! > MAX_RATIO)
  if (exceeded.length > 0) throw new Error(`More than ${MAX_RATIO} times that of one server: ${exceeded.join(', ')}.`)
}

async function load(): Promise<Support> {
  const path = (file: string) => new URL(`../test/${file}`, import.meta.url).pathname
  const { packageAliases } = await createJiti(import.meta.url).import<{ packageAliases: () => Record<string, string> }>(
    path('support/aliases.ts'),
  )
  const jiti = createJiti(import.meta.url, { alias: packageAliases() })
  return {
    ...(await jiti.import<object>(path('e2e/servers/orders.ts'))),
    ...(await jiti.import<object>(path('e2e/servers/parts.ts'))),
  } as Support
}

async function readAll(servers: readonly { readonly url: string, readonly pid: number }[]): Promise<Reading> {
  let [cpu, statements] = [0, 0]
  for (const { url, pid } of servers) {
    statements += ((await (await fetch(`${url}/statements`)).json()) as { count: number }).count
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    cpu += (Number(fields[11]) + Number(fields[12])) / 100
  }
  return { cpu, statements }
}

async function createToken(url: string): Promise<string> {
  const { status, body } = await exchange(`${url}/api/apiTokens`, 'POST', MEMBER, { name: 'bench' })
  if (status !== 201) throw new Error(`The server made no token: ${status} ${body}`)
  return (JSON.parse(body) as { token: string }).token
}

/** Sends the same requests in each round. The next server gets the next request. Without a rate, as fast as the servers respond. */
async function run(
  kind: Kind,
  servers: readonly { readonly url: string }[],
  token: string,
  requests: number,
  rate = Infinity,
): Promise<void> {
  let next = 0
  const start = performance.now()
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (next < requests) {
        const index = next++
        const early = start + (1000 * index) / rate - performance.now()
        if (early > 0) await new Promise(resolve => setTimeout(resolve, early))
        const { method, path, headers = {}, body } = kind.requestOf(index, token)
        const answer = await exchange(servers[index % servers.length]!.url + path, method, headers, body)
        if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
      }
    }),
  )
}

const KINDS: readonly [Kind, Kind] = [
  { title: 'a route with one statement, without the API', requestOf: () => ({ method: 'GET', path: '/health' }) },
  // Of ten requests, two write. A quarter has a token.
  { title: 'the API', requestOf(index, token) {
    const headers = index % 4 === 0 ? { authorization: `Bearer ${token}` } : MEMBER
    const path = `/api/orders/${1 + (index * 7919) % 1000}`
    const kind = index % 10
    if (kind === 0) return { method: 'POST', path: '/api/orders', headers, body: { name: 'new' } }
    if (kind === 5) return { method: 'PATCH', path, headers, body: { version: index } }
    if (kind < 5) return { method: 'GET', path: `${path}?include=lines`, headers }
    return { method: 'GET', path: `/api/orders?limit=20&sort=-id&page=${1 + index % 5}`, headers }
  } },
]

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

function exchange(url: string, method: string, headers: Record<string, string>, body?: object): Promise<{ status: number, body: string }> {
  return new Promise((resolve, reject) => {
    const sent = send(url, { method, agent, headers: { ...headers, ...body && { 'content-type': 'application/json' } } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => text += chunk).on('end', () => resolve({ status: response.statusCode!, body: text }))
    })
    sent.on('error', reject).end(body && JSON.stringify(body))
  })
}
