/**
 * Measures live updates: the time from a commit to its signal, the memory of a stream, and what writers pay, with many subscribers in 100
 * groups.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request as send, Agent } from 'node:http'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { IMPLEMENTATIONS } from '../implementations.ts'
import { median } from '../median.ts'
import { startServer, type RunningServer } from '../server.ts'
import { startPocketBase } from './pocketbase.ts'
import type { Arrivals, Subscribe } from './subscribers.ts'

/** The subscribers in each phase. */
const SUBSCRIBERS = [0, 1000, 10_000]
const GROUPS = 100
const PER_SECOND = 5
const SECONDS = 10
const PROCESSES = 2
const MAX_P99 = 300

/** The subscribers and the commits of the comparison, all on one rule. */
const COMPARED = { subscribers: 1000, commits: 100, perSecond: 10 }

/** A server with a stream of changes. */
export interface Feed {
  readonly title: string
  readonly subscribe: Omit<Subscribe, 'headers'>
  /** Creates a record that all subscribers can read. Returns its id. */
  readonly write: (index: number) => Promise<string>
  readonly cpuSeconds: () => number
  readonly stop: () => Promise<void>
}

export async function compareLive(database: string): Promise<void> {
  if (process.platform !== 'linux') throw new Error('The memory of a server can be read on Linux only.')
  const sample = readSample(database)
  const server = await startServer({ ...IMPLEMENTATIONS[3], environment: () => ({ BENCH_LIVE: '1' }) }, database)
  try {
    await measureGroups(server, sample)
    const own = toFeed(server, sample)
    const other = await startPocketBase()
    if (!other) console.info('PocketBase cannot be installed here, so it is not compared.')
    await compareDeliveries(other ? [own, other] : [own], sample.writers[0]!)
  }
  finally {
    await server.stop()
  }
}

/** Many subscribers in 100 groups. Creates and updates take turns. */
async function measureGroups(server: RunningServer, { writers, posts, editor }: Sample): Promise<void> {
  const subscribers = startSubscribers()
  try {
    const columns = ['update, median', 'create, median', 'commit to signal, p50', 'p99', 'memory of a stream']
    console.info(`| ${PER_SECOND} commits per second, ${GROUPS} groups | ${columns.join(' | ')} |\n|---${'|--:'.repeat(columns.length)}|`)
    const { subscribe, write } = toFeed(server, { editor })
    const first = memoryOf(server)
    for (const [phase, count] of SUBSCRIBERS.entries()) {
      const open = SUBSCRIBERS[phase - 1] ?? 0
      await subscribers.open(subscribe, Array.from({ length: count - open }, (_, index) => writers[(open + index) % GROUPS]!))
      await sleep(2000)
      const memory = count === 0 ? '' : `${((memoryOf(server) - first) / count / 1000).toFixed(1)} kB`
      const times: [update: number[], create: number[]] = [[], []]
      const sent = await inTime(PER_SECOND * SECONDS, PER_SECOND, async (index) => {
        const start = performance.now()
        const id = index % 2 === 1
          ? await write(index)
          : await idOf(exchange(server, 'PATCH', `/${posts[phase * 100 + index]!}`, editor, { title: `Title ${Date.now()}` }))
        times[index % 2]!.push(performance.now() - start)
        return id
      })
      await sleep(2000)
      const delays = await subscribers.delays(sent, count)
      const [update, create] = times.map(list => `${median(list).toFixed(1)} ms`)
      console.info(`| ${count} subscribers | ${update} | ${create} | ${at(delays, 0.5)} | ${at(delays, 0.99)} | ${memory} |`)
      if (delays.length > 0 && delays[Math.floor(delays.length * 0.99)]! > MAX_P99) console.warn(`p99 is above ${MAX_P99} ms.`)
    }
  }
  finally {
    subscribers.stop()
  }
}

/** Deliveries per second of the server's processor time. */
async function compareDeliveries(feeds: readonly Feed[], caller: number): Promise<void> {
  const { subscribers: count, commits, perSecond } = COMPARED
  console.info(`\n| ${count} subscribers on one rule, ${perSecond} commits per second | deliveries per second of processor time |\n|---|--:|`)
  for (const { title, subscribe, write, cpuSeconds, stop } of feeds) {
    const subscribers = startSubscribers()
    try {
      await subscribers.open(subscribe, Array.from({ length: count }, () => caller))
      await sleep(2000)
      const before = cpuSeconds()
      const sent = await inTime(commits, perSecond, write)
      await sleep(2000)
      await subscribers.delays(sent, count)
      console.info(`| ${title} | ${Math.round(count * commits / (cpuSeconds() - before))} |`)
    }
    finally {
      subscribers.stop()
      await stop()
    }
  }
}

/** Writes at regular times. Returns when each record was written, in milliseconds since 1970. */
async function inTime(count: number, perSecond: number, write: (index: number) => Promise<string>): Promise<ReadonlyMap<string, number>> {
  const sent = new Map<string, number>()
  const start = performance.now()
  for (let index = 0; index < count; index++) {
    await sleep(start + index * 1000 / perSecond - performance.now())
    const time = Date.now()
    sent.set(await write(index), time)
  }
  return sent
}

function toFeed(server: RunningServer, { editor }: Pick<Sample, 'editor'>): Feed {
  const { port, pathname } = new URL(server.posts)
  const path = `${pathname.replace(/posts$/, '')}_live?resources=posts`
  return {
    title: 'nuxt-auto-api',
    subscribe: { port: Number(port), path, before: '"id":"' },
    write: index => idOf(exchange(server, 'POST', '', editor, {
      title: `New ${index}`, slug: `new-${index}`, authorId: editor, status: 'published',
    })),
    cpuSeconds: () => server.cpuSeconds()!,
    stop: async () => {},
  }
}

async function idOf(response: ReturnType<typeof exchange>): Promise<string> {
  const { status, body } = await response
  if (status >= 300) throw new Error(`The server answers ${status}: ${body}`)
  return String((JSON.parse(body) as { id: number }).id)
}

const at = (sorted: readonly number[], share: number) => sorted.length === 0 ? '' : `${sorted[Math.floor(sorted.length * share)]} ms`

/** Starts the processes of the clients. */
function startSubscribers() {
  const processes = Array.from({ length: PROCESSES }, () => fork(fileURLToPath(new URL('subscribers.ts', import.meta.url))))
  return {
    async open(subscribe: Omit<Subscribe, 'headers'>, callers: readonly number[]): Promise<void> {
      if (callers.length === 0) return
      await Promise.all(processes.map((child, index) => new Promise<void>((resolve, reject) => {
        const headers = callers.filter((_, position) => position % processes.length === index).map(id => ({ 'x-caller': String(id) }))
        child.once('message', () => resolve())
        child.once('exit', () => reject(new Error('A process of subscribers has ended.')))
        child.send({ subscribe: { ...subscribe, headers } satisfies Subscribe })
      })))
    },
    delays: (sent: ReadonlyMap<string, number>, count: number) => delaysOf(processes, sent, count),
    stop() {
      for (const child of processes) child.kill('SIGKILL')
    },
  }
}

/** @throws When a commit has fewer signals than subscribers. */
async function delaysOf(processes: readonly ChildProcess[], sent: ReadonlyMap<string, number>, count: number): Promise<number[]> {
  const reports = await Promise.all(processes.map(child => new Promise<Arrivals>((resolve) => {
    child.once('message', message => resolve(message as Arrivals))
    child.send({ report: true })
  })))
  const delays: number[] = []
  for (const [id, start] of sent) {
    const arrived = reports.flatMap(({ at }) => at[id] ?? [])
    if (arrived.length !== count) throw new Error(`The commit of ${id} has ${arrived.length} signals for ${count} subscribers.`)
    for (const time of arrived) delays.push(time - start)
  }
  return delays.sort((one, other) => one - other)
}

type Sample = ReturnType<typeof readSample>

/** Writers of one organization are groups of their own, because each also sees its own drafts. */
function readSample(database: string) {
  const connection = new Database(database, { readonly: true })
  const ids = (query: string) => (connection.prepare(query).all() as { id: number }[]).map(({ id }) => id)
  const writers = ids(`select id from users where role = 'writer' and organization_id = 1 limit ${GROUPS}`)
  const posts = ids('select id from posts where status = \'published\' and organization_id = 1 limit 1000')
  const [editor] = ids('select id from users where role = \'editor\' and organization_id = 1 limit 1')
  connection.close()
  if (writers.length < GROUPS) throw new Error(`There are ${writers.length} writers for ${GROUPS} groups.`)
  return { writers, posts, editor: editor! }
}

const memoryOf = ({ pid }: RunningServer) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024

const sleep = (milliseconds: number) => new Promise(resolve => setTimeout(resolve, Math.max(0, milliseconds)))

const agent = new Agent({ keepAlive: true })

function exchange(
  { posts }: RunningServer, method: string, path: string, caller: number, body: object,
): Promise<{ readonly status: number, readonly body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-caller': String(caller), 'content-type': 'application/json' }
    const sent = send(posts + path, { method, agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => text += chunk).on('end', () => resolve({ status: response.statusCode!, body: text }))
    })
    sent.on('error', reject).end(JSON.stringify(body))
  })
}
