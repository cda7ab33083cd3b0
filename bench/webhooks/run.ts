/**
 * Measures what a queue of webhooks costs those who read: a list of 20 with an empty queue, with 100 000 deliveries of a webhook that is
 * off, and while a server delivers to a receiver on the same machine. The servers take turns. Each of them stands still while another one
 * is measured.
 */
import { fork } from 'node:child_process'
import { copyFileSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { organizationOf, type Sample } from '../dataset.ts'
import { IMPLEMENTATIONS } from '../implementations.ts'
import { median } from '../median.ts'
import { OPERATIONS } from '../operations.ts'
import { startServer, type RunningServer } from '../server.ts'
import { buildOnce } from '../variants.ts'
import { toFetchOptions } from '../verify.ts'
import type { Load } from './load.ts'

const WAITING = 100_000
/** More than the deliveries of all rounds. */
const SPARE = 100_000
const PER_SECOND = 500
const SECONDS = 2
const ROUNDS = 15
const MAX_INCREASE = 0.05

const QUEUES = [
  { title: 'empty', waiting: 0, active: true },
  { title: `${WAITING} deliveries wait, the webhook is off`, waiting: WAITING, active: false },
  { title: `at least ${WAITING} deliveries wait, the server delivers`, waiting: WAITING + SPARE, active: true },
] as const

/** The tables of the playground are those of the presets. This process loads no TypeScript of the module. */
const TABLES = fileURLToPath(new URL('../../playground/server/database/migrations/0007_webhooks.sql', import.meta.url))

interface Queue {
  readonly title: string
  readonly file: string
  readonly server: RunningServer
  /** The milliseconds of each request, by round. */
  readonly rounds: (readonly number[])[]
}

export async function compareWebhooks(database: string, sample: Sample): Promise<void> {
  const entry = buildOnce('webhooks', { BENCH_WEBHOOKS: '1' })
  const receiver = await openReceiver()
  const generator = startGenerator()
  const queues: Queue[] = []
  try {
    for (const [index, { title, waiting, active }] of QUEUES.entries()) {
      const file = database.replace('.sqlite', `-webhooks-${index}.sqlite`)
      copyFileSync(database, file)
      fill(file, { waiting, active, url: receiver.url, owner: sample.callers[0]!.id })
      const server = await startServer({ ...IMPLEMENTATIONS[3], key: title, entry, environment: () => ({ BENCH_WEBHOOKS: '1' }) }, file)
      queues.push({ title, file, server, rounds: [] })
    }
    const [, , delivering] = queues as [Queue, Queue, Queue]
    await startDelivering(delivering.server, sample, () => receiver.count())
    for (const { server } of queues) process.kill(server.pid, 'SIGSTOP')
    const delivered: number[] = []
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const queue of round % 2 === 0 ? queues : queues.toReversed()) {
        process.kill(queue.server.pid, 'SIGCONT')
        const before = receiver.count()
        const times = await generator.run(toLoad(queue.server, sample))
        if (round > 0) queue.rounds.push(times)
        if (round > 0 && queue === delivering) delivered.push((receiver.count() - before) / SECONDS)
        process.kill(queue.server.pid, 'SIGSTOP')
      }
    }
    report(queues, median(delivered))
  }
  finally {
    generator.stop()
    for (const { server } of queues) {
      process.kill(server.pid, 'SIGCONT')
      await server.stop()
    }
    receiver.close()
  }
  const left = countWaiting(queues[2]!.file)
  if (left < WAITING) throw new Error(`Only ${left} deliveries are left: there was not always a queue of ${WAITING}.`)
}

function report(queues: readonly Queue[], perSecond: number): void {
  console.info(`\n| queue, ${PER_SECOND} lists per second | p50 | p99 | p99 by round, compared with an empty queue |\n|---|--:|--:|--:|`)
  const [empty] = queues as [Queue]
  for (const { title, rounds } of queues) {
    const ratio = median(rounds.map((times, round) => at(times, 0.99) / at(empty.rounds[round]!, 0.99)))
    const all = rounds.flat()
    console.info(`| ${title} | ${at(all, 0.5).toFixed(2)} ms | ${at(all, 0.99).toFixed(2)} ms | ${ratio.toFixed(3)} |`)
    if (ratio > 1 + MAX_INCREASE) console.warn(`p99 is more than ${MAX_INCREASE * 100} % above that of an empty queue.`)
  }
  console.info(`\n${Math.round(perSecond)} deliveries per second`)
}

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length * share)]!
}

interface Content {
  readonly waiting: number
  readonly active: boolean
  readonly url: string
  readonly owner: number
}

/** One webhook of a user, and the events of updates of as many posts as the organization has, in turns. */
function fill(file: string, { waiting, active, url, owner }: Content): void {
  const connection = new Database(file)
  const organization = organizationOf(owner)
  const now = Date.now()
  for (const statement of readFileSync(TABLES, 'utf8').split('--> statement-breakpoint')) connection.exec(statement)
  connection.prepare(`insert into webhooks (id, url, events, active, owner, organization_id, slot, failures, secret, created_at, updated_at)
    values ('hook', ?, '["posts.updated"]', ?, ?, ?, 'slot', 0, ?, ?, ?)`)
    .run(url, active ? 1 : 0, String(owner), String(organization), `whsec_${Buffer.alloc(32, 7).toString('base64')}`, now, now)
  const posts = connection.prepare(`select id, json_object('id', id, 'organizationId', organization_id, 'authorId', author_id, 'title', title,
      'slug', slug, 'excerpt', excerpt, 'status', status, 'featured', json(iif(featured, 'true', 'false')), 'views', views) as image
    from posts where organization_id = ?`).all(organization) as { id: number, image: string }[]
  const insert = connection.prepare(`insert into webhook_deliveries (id, webhook_id, event, resource, record_id, status, attempts, created_at,
      due_at, owner, organization_id, position, columns, image)
    values (printf('%036d', @position), 'hook', 'posts.updated', 'posts', @id, 'pending', 0, @now, @now, @owner, @organization, @position,
      '["title"]', @image)`)
  connection.transaction(() => {
    for (let position = 1; position <= waiting; position++) {
      const { id, image } = posts[position % posts.length]!
      insert.run({ position, id: String(id), image, now, owner: String(owner), organization: String(organization) })
    }
  })()
  connection.pragma('wal_checkpoint(TRUNCATE)')
  connection.close()
  if (countWaiting(file) !== waiting) throw new Error(`${file} does not have ${waiting} deliveries.`)
}

function countWaiting(file: string): number {
  const connection = new Database(file, { readonly: true })
  const count = connection.prepare('select count(*) from webhook_deliveries where status = \'pending\'').pluck().get() as number
  connection.close()
  return count
}

/** An event makes the server look for deliveries. Then it goes on until none is left. */
async function startDelivering({ posts }: RunningServer, { callers: [caller] }: Sample, count: () => number): Promise<void> {
  const { status } = await fetch(`${posts}/${caller!.visible[0]}`, {
    method: 'PATCH', headers: { 'x-caller': String(caller!.id), 'content-type': 'application/json' }, body: '{"title":"Delivered"}',
  })
  if (status !== 200) throw new Error(`The update answers ${status}.`)
  const end = Date.now() + 10_000
  while (count() < 100) {
    if (Date.now() > end) throw new Error('The server delivers nothing.')
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

const LIST = OPERATIONS.find(({ title }) => title === 'list 20')!

const toLoad = ({ posts }: RunningServer, sample: Sample): Load => ({
  url: posts, perSecond: PER_SECOND, seconds: SECONDS,
  requests: LIST.requests(sample).map(request => ({ path: request.path, headers: toFetchOptions(request).headers })),
})

async function openReceiver() {
  let received = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      received++
      response.writeHead(204).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    count: () => received,
    close: () => void server.close(),
  }
}

function startGenerator() {
  const child = fork(fileURLToPath(new URL('load.ts', import.meta.url)))
  return {
    run: (load: Load) => new Promise<readonly number[]>((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`The load generator exited with code ${code}.`))
      child.once('exit', ended)
      child.once('message', (times: readonly number[]) => {
        child.off('exit', ended)
        resolve(times)
      })
      child.send(load)
    }),
    stop: () => child.kill(),
  }
}
