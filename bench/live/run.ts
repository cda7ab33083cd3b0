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
import { median } from '../measure.ts'
import { startServer, type RunningServer } from '../server.ts'
import type { Arrivals, Subscribe } from './subscribers.ts'

/** The subscribers in each phase. */
const SUBSCRIBERS = [0, 1000, 10_000]
const GROUPS = 100
const PER_SECOND = 5
const SECONDS = 10
const PROCESSES = 2
const MAX_P99 = 300

/** @throws When a commit has fewer signals than subscribers. */
export async function compareLive(database: string): Promise<void> {
  if (process.platform !== 'linux') throw new Error('The memory of a server can be read on Linux only.')
  const { writers, posts, editor } = readSample(database)
  const server = await startServer({ ...IMPLEMENTATIONS[3], environment: () => ({ BENCH_LIVE: '1' }) }, database)
  const processes = Array.from({ length: PROCESSES }, () => fork(fileURLToPath(new URL('subscribers.ts', import.meta.url))))
  try {
    console.info(`| ${PER_SECOND} commits per second, ${GROUPS} groups | update, median | create, median | commit to signal, p50 | p99 | memory of a stream |\n|---|--:|--:|--:|--:|--:|`)
    const first = memoryOf(server)
    let next = 0
    let open = 0
    for (const count of SUBSCRIBERS) {
      await subscribe(processes, server, Array.from({ length: count - open }, (_, index) => writers[(open + index) % GROUPS]!))
      open = count
      await sleep(2000)
      const perStream = count === 0 ? 0 : (memoryOf(server) - first) / count
      const sent = new Map<string, number>()
      const update: number[] = []
      const create: number[] = []
      const start = performance.now()
      for (let index = 0; index < PER_SECOND * SECONDS; index++) {
        await sleep(start + index * 1000 / PER_SECOND - performance.now())
        const isCreate = index % 2 === 1
        const at = Date.now()
        const begin = performance.now()
        const post = posts[next++]!
        const { status, body } = isCreate
          ? await exchange(server, 'POST', '', editor, { title: `New ${index}`, slug: `new-${index}`, authorId: editor, status: 'published' })
          : await exchange(server, 'PATCH', `/${post}`, editor, { title: `Title ${at}` })
        if (status >= 300) throw new Error(`The server answers ${status}: ${body}`)
        ;(isCreate ? create : update).push(performance.now() - begin)
        sent.set(String((JSON.parse(body) as { id: number }).id), at)
      }
      await sleep(2000)
      const delays = await delaysOf(processes, sent, count)
      console.info(`| ${count} subscribers | ${median(update).toFixed(1)} ms | ${median(create).toFixed(1)} ms | ${at(delays, 0.5)} | ${at(delays, 0.99)} | ${count === 0 ? '' : `${(perStream / 1000).toFixed(1)} kB`} |`)
      if (delays.length > 0 && delays[Math.floor(delays.length * 0.99)]! > MAX_P99) console.warn(`p99 is above ${MAX_P99} ms.`)
    }
  }
  finally {
    for (const child of processes) child.kill('SIGKILL')
    await server.stop()
  }
}

const at = (sorted: readonly number[], share: number) => sorted.length === 0 ? '' : `${sorted[Math.floor(sorted.length * share)]} ms`

async function subscribe(processes: readonly ChildProcess[], server: RunningServer, callers: readonly number[]): Promise<void> {
  if (callers.length === 0) return
  const { port, pathname } = new URL(server.posts)
  await Promise.all(processes.map((child, index) => new Promise<void>((resolve, reject) => {
    const headers = callers.filter((_, position) => position % processes.length === index).map(id => ({ 'x-caller': String(id) }))
    const path = `${pathname.replace(/posts$/, '')}_live?resources=posts`
    child.once('message', () => resolve())
    child.once('exit', () => reject(new Error('A process of subscribers has ended.')))
    child.send({ subscribe: { port: Number(port), path, headers, before: '"id":"' } satisfies Subscribe })
  })))
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
