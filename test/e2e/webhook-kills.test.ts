/** Webhooks are not lost when their server is killed: every committed change is delivered, none of a rolled-back one, and in order. */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTablesSql } from '../support/create-tables'
import { root } from '../support/once'
import { isReachable, SERVICES } from '../support/services'
import { byTier } from '../support/tiers'
import { TABLES, type Kind } from './kill/webhook-tables'

/** On each of two databases. Every hundred kills have a database of their own. */
const KILLS = byTier({ push: 10, full: 100, release: 100 })
/** Of each of three writers of two servers. */
const WRITES = String(byTier({ push: 40, full: 400, release: 400 }))
const ROUNDS = byTier({ push: 1, full: 5, release: 10 })
/** More than a writer makes before it is killed. */
const MANY = '1000'

const folder = mkdtempSync(join(tmpdir(), 'auto-api-webhooks-'))
const newName = () => `webhooks_${randomUUID().replaceAll('-', '')}`

interface Opened {
  readonly url: string
  readonly query: (sql: string) => Promise<unknown[][]>
  /** What the passing of the lease of a killed server does. */
  readonly expire: () => Promise<unknown>
  readonly remove: () => Promise<void>
}

const OPEN: Readonly<Record<Kind, () => Promise<Opened>>> = {
  async sqlite() {
    const url = join(folder, `${newName()}.db`)
    const client = new Database(url)
    client.pragma('journal_mode = WAL')
    client.pragma('busy_timeout = 5000')
    client.exec(await createTablesSql('sqlite', TABLES.sqlite))
    return {
      url,
      query: async sql => client.prepare(sql).raw().all() as unknown[][],
      expire: async () => client.prepare('update webhook_deliveries set due_at = ? where lease is not null').run(Date.now()),
      remove: async () => void client.close(),
    }
  },
  async pg() {
    const database = newName()
    const connect = async (name: string) => {
      const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: name })
      await client.connect()
      return client
    }
    const admin = await connect('test')
    await admin.query(`create database ${database}`)
    const client = await connect(database)
    await client.query(await createTablesSql('pg', TABLES.pg))
    return {
      url: `postgres://postgres@127.0.0.1/${database}`,
      query: async text => (await client.query({ text, rowMode: 'array' })).rows as unknown[][],
      expire: () => client.query('update webhook_deliveries set due_at = now() where lease is not null'),
      async remove() {
        await client.end()
        await admin.query(`drop database ${database} with (force)`)
        await admin.end()
      },
    }
  },
}

/** One file that Node starts at once: most of the test is starting servers. */
let writer: string
beforeAll(async () => {
  // In the repository, where it finds its packages.
  const outDir = join(root, 'test/e2e/kill/.output')
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true, external: ['better-sqlite3', 'pg'] },
    build: {
      ssr: join(root, 'test/e2e/kill/webhook-writer.ts'), outDir, emptyOutDir: false, minify: true,
      rollupOptions: { output: { entryFileNames: `webhooks-${process.pid}.mjs`, codeSplitting: false } },
    },
  })
  writer = join(outDir, `webhooks-${process.pid}.mjs`)
}, 120_000)
afterAll(() => {
  for (const path of [folder, writer]) rmSync(path, { recursive: true, force: true })
})

interface Received {
  /** How often each delivery arrived, and how often it was answered with 200, by id. Those that arrived first come first. */
  readonly deliveries: Map<string, { event: string, record: string, arrived: number, acknowledged: number }>
}

/** Counts what arrives. Some requests fail: by their status, by a lost connection, or without an answer. */
async function openReceiver(answer: (response: ServerResponse) => boolean) {
  const deliveries: Received['deliveries'] = new Map()
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', chunk => body += chunk)
    request.on('end', () => {
      const id = String(request.headers['webhook-id']).replace('msg_', '')
      const { type, data } = JSON.parse(body) as { type: string, data: { id: string } }
      const one = deliveries.get(id) ?? { event: type, record: data.id, arrived: 0, acknowledged: 0 }
      deliveries.set(id, one)
      one.arrived++
      if (answer(response)) one.acknowledged++
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    deliveries,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => new Promise<void>((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    }),
  }
}

/** Nine of ten requests succeed. */
function answerAtRandom(response: ServerResponse): boolean {
  const chance = Math.random()
  if (chance < 0.05) response.writeHead(500).end()
  else if (chance < 0.08) response.destroy()
  // Nothing answers the others.
  else if (chance > 0.09) response.end('ok')
  return chance > 0.09
}

/** Starts a server, lets it begin some writes, and kills it a moment later. Returns whether a write had begun and not ended. */
function killOnce(args: readonly string[], begins: number, delay: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = start([...args, 'write', MANY])
    let [begun, ended, errors, isArmed] = [0, 0, '', false]
    child.stderr!.on('data', chunk => errors += chunk)
    child.stdout!.on('data', (chunk) => {
      for (const line of String(chunk).split('\n')) {
        if (line === 'begin') begun++
        if (line === 'end') ended++
      }
      if (begun < begins || isArmed) return
      isArmed = true
      setTimeout(() => child.kill('SIGKILL'), delay)
    })
    child.on('close', (_code, signal) => signal === 'SIGKILL' ? resolve(begun > ended) : reject(new Error(errors)))
  })
}

/** @param timeout seconds after which a server sends a delivery again */
const start = (args: readonly string[], timeout = 1): ChildProcess => spawn(process.execPath, [writer, ...args], {
  stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled'), WEBHOOK_TIMEOUT: String(timeout) },
})

const end = (child: ChildProcess) => new Promise<void>((resolve) => {
  child.on('close', () => resolve())
  child.kill('SIGKILL')
})

const OPEN_DELIVERIES = 'select count(*) from webhook_deliveries where due_at is not null'

async function drain({ query, expire }: Opened, args: readonly string[], seconds: number): Promise<void> {
  await expire()
  const child = start([...args, 'drain', '0'])
  for (let tries = 0; ; tries++) {
    await new Promise(resolve => setTimeout(resolve, 500))
    if (Number((await query(OPEN_DELIVERIES))[0]![0]) === 0) break
    if (tries > seconds * 2) throw new Error(`The queue is not empty after ${seconds} seconds.`)
  }
  await end(child)
}

const NAMES: Readonly<Record<string, string>> = {
  create: 'items.created', update: 'items.updated', delete: 'items.deleted', restore: 'items.restored', purge: 'items.purged',
}

/** The events of a record that can follow each one. */
const FOLLOWING: Readonly<Record<string, readonly string[]>> = {
  '': ['created'], 'created': ['updated', 'deleted', 'purged'], 'updated': ['updated', 'deleted', 'purged'], 'deleted': ['restored', 'purged'],
  'restored': ['updated', 'deleted', 'purged'], 'purged': [],
}

const reachable = await isReachable(SERVICES.find(({ name }) => name === 'postgres')!)

/** Kills servers at random, and compares what arrived with what was committed. */
async function killMany(kind: Kind) {
  const opened = await OPEN[kind]()
  const receiver = await openReceiver(answerAtRandom)
  const args = [kind, opened.url, receiver.url]
  let unfinished = 0
  for (let kill = 0; kill < KILLS; kill++) {
    if (await killOnce(args, 1 + Math.floor(Math.random() * 20), Math.random() * 60)) unfinished++
    // More than the lease would pass.
    await opened.expire()
  }
  await drain(opened, args, 60 + KILLS)
  const audited = await opened.query(`select record_id, kind from audit_log where resource = 'items'`)
  const rows = await opened.query('select id, event, record_id, position, status from webhook_deliveries order by position, id')
  const [[attempts] = []] = await opened.query('select max(attempts) from webhook_deliveries')
  await opened.remove()
  await receiver.close()

  // Every committed change has one delivery. The audit log says what was committed.
  const committed = audited.map(([record, kind]) => `${String(record)} ${NAMES[String(kind)]}`).sort()
  expect(rows.map(([, event, record]) => `${String(record)} ${String(event)}`).sort()).toEqual(committed)
  // Each was answered, and nothing else arrived: not a change that was rolled back.
  const acknowledged = [...receiver.deliveries].filter(([, { acknowledged }]) => acknowledged > 0).map(([id]) => id)
  expect(acknowledged.sort()).toEqual(rows.map(([id]) => String(id)).sort())
  expect([...receiver.deliveries.keys()].sort()).toEqual(rows.map(([id]) => String(id)).sort())
  expect(rows.filter(([, , , , status]) => status !== 'delivered')).toEqual([])
  // Deliveries of a record arrive in the order of its changes, which is a possible one.
  const positions = new Map(rows.map(([id], index) => [String(id), index]))
  const last = new Map<string, { event: string, position: number }>()
  const inverted: unknown[] = []
  for (const [id, { event, record }] of receiver.deliveries) {
    const before = last.get(record) ?? { event: '', position: -1 }
    const now = { event: event.replace('items.', ''), position: positions.get(id)! }
    if (now.position <= before.position || !FOLLOWING[before.event]!.includes(now.event)) inverted.push([record, before, now])
    last.set(record, now)
  }
  expect(inverted).toEqual([])
  expect(unfinished).toBeGreaterThan(KILLS / 10)
  const arrived = [...receiver.deliveries.values()].reduce((sum, one) => sum + one.arrived, 0)
  return { unfinished, changes: committed.length, records: last.size, requests: arrived, attempts: Number(attempts) }
}

describe.concurrent('a server with webhooks', () => {
  it.skipIf(!reachable).each<[string, Kind]>([['SQLite', 'sqlite'], ['Postgres', 'pg']])(
    `loses none over ${KILLS * ROUNDS} kills on %s`,
    async (name, kind) => {
      for (let round = 1; round <= ROUNDS; round++) {
        const { unfinished, changes, records, requests, attempts } = await killMany(kind)
        console.info(`${name}, round ${round}: ${KILLS} kills, ${unfinished} during a write, ${changes} changes of ${records} records in `
          + `${requests} requests, at most ${attempts} attempts; none lost, rolled back or out of order`)
      }
    },
    ROUNDS * KILLS * 10_000 + 120_000,
  )

  it.skipIf(!reachable)('shares its queue with another one: each delivery once, and if one is killed, the other delivers the rest', async () => {
    const opened = await OPEN.pg()
    const receiver = await openReceiver((response) => {
      response.end('ok')
      return true
    })
    const args = ['pg', opened.url, receiver.url]
    // The first server registers the webhook.
    await drain(opened, args, 60)
    // On a busy machine, a response can take longer than a second. Its delivery would arrive again.
    const servers = [start([...args, 'write', WRITES], 30), start([...args, 'write', WRITES], 30)]
    const written = servers.map(({ stdout }) => new Promise<void>(resolve =>
      stdout!.on('data', chunk => String(chunk).includes('written') && resolve())))
    await Promise.all(written)
    const isEmpty = async () => Number((await opened.query(OPEN_DELIVERIES))[0]![0]) === 0
    await expect.poll(isEmpty, { timeout: 120_000, interval: 200 }).toBe(true)
    const before = [...receiver.deliveries.values()]
    expect(before.filter(({ arrived }) => arrived !== 1)).toEqual([])
    const killed = start([...args, 'write', MANY], 30)
    await expect.poll(() => receiver.deliveries.size > before.length + 10, { timeout: 60_000 }).toBe(true)
    await end(killed)
    await opened.expire()
    await expect.poll(isEmpty, { timeout: 120_000, interval: 200 }).toBe(true)
    await Promise.all(servers.map(end))
    const rows = await opened.query('select id from webhook_deliveries')
    const received = [...receiver.deliveries]
    await opened.remove()
    await receiver.close()
    expect(received.map(([id]) => id).sort()).toEqual(rows.map(([id]) => String(id)).sort())
    console.info(`Two servers: ${before.length} deliveries, each once; after a kill, ${received.length - before.length} more`)
  }, 600_000)
})
