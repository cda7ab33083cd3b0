/** Several servers with a response cache: in Redis, in another storage, while the storage fails, and while reads and writes race. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createNetServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AutoApiPlugin } from '../../../src/runtime/server/define'
import { responseCache } from '../../../src/runtime/plugins'
import { isReachable, REDIS } from '../../support/services'
import type { TestServer } from '../../support/server'
import { ANN, createBoard, STAFF, type Board } from './board'
import { isFull } from '../../support/tiers'

const RACES = isFull ? 1_000 : 50

let board: Board
beforeEach(() => void (board = createBoard()))
afterEach(() => {
  board.client.close()
  vi.restoreAllMocks()
})

const read = async (server: TestServer, path = '/teams/1') => {
  const { status, body, headers } = await server.request('GET', `/api${path}`, { caller: ANN })
  return { status, name: body.name as string, cache: headers.get('cache-status')?.replace(/; ttl=\d+/, '') }
}
const rename = (server: TestServer, name: string) => server.request('PATCH', '/api/teams/1', { body: { name }, caller: STAFF })
const HIT = 'auto-api; hit'
const STORED = 'auto-api; fwd=miss; stored'

/** An unstorage storage with one driver. */
const storageOf = (driver: object) => ({ getMount: () => ({ base: '', driver: driver as { name?: string } }) })

const redisDriver = (client: Redis, base: string) => ({ name: 'redis', options: { base }, getInstance: () => client })

/** Any other driver of unstorage. */
function mapDriver() {
  const items = new Map<string, string>()
  return {
    items,
    name: 'map',
    getItem: async (key: string) => items.get(key) ?? null,
    setItem: async (key: string, value: string) => void items.set(key, value),
  }
}

/** A plugin that holds reads between their last statement and the cache, and says when one is there. */
function createGate() {
  const waiting: (() => void)[] = []
  let arrived = () => {}
  let isOpen = true
  return {
    plugin: { name: 'gate', around: async (ctx, next) => {
      const response = await next()
      if (ctx.operation !== 'read' || isOpen) return response
      arrived()
      await new Promise<void>(resolve => waiting.push(resolve))
      return response
    } } satisfies AutoApiPlugin,
    /** Resolves when the next read has read its rows. */
    close: () => new Promise<void>((resolve) => {
      isOpen = false
      arrived = resolve
    }),
    open: () => {
      isOpen = true
      for (const release of waiting.splice(0)) release()
    },
  }
}

/** A commit during a slow read: the slow read gets the old row, and every later read the new one. */
async function race(reader: TestServer, writer: TestServer, gate: ReturnType<typeof createGate>, round: number): Promise<void> {
  // The response of the last round would be a hit.
  await rename(writer, `before ${round}`)
  const arrived = gate.close()
  const slow = read(reader)
  await arrived
  // A read that begins before the write waits for the slow one.
  const early = round % 2 === 0 ? read(reader) : undefined
  expect((await rename(writer, `name ${round}`)).status).toBe(200)
  gate.open()
  const fresh = await Promise.all([read(reader), read(writer)])
  await slow
  await early
  for (const { status, name } of [...fresh, await read(reader), await read(writer)]) expect([status, name]).toEqual([200, `name ${round}`])
}

it(`never answers a read that began before a write after it: one server in memory, ${RACES} races`, async () => {
  const gate = createGate()
  const server = await board.open(false, { plugins: [responseCache(), gate.plugin] })
  for (let round = 0; round < RACES; round++) await race(server, server, gate, round)
}, isFull ? 600_000 : 60_000)

describe('with any driver of unstorage', () => {
  it('servers share responses and writes', async () => {
    const driver = mapDriver()
    const [one, other] = [await board.open({ storage: storageOf(driver) }), await board.open({ storage: storageOf(driver) })]
    expect([(await read(one)).cache, (await read(other)).cache, (await read(one)).cache]).toEqual([STORED, HIT, HIT])
    await rename(other, 'new')
    expect(await read(one)).toEqual({ status: 200, name: 'new', cache: STORED })
    expect((await read(other)).cache).toBe(HIT)
  })

  it('responses have a limited number of places', async () => {
    const driver = mapDriver()
    const server = await board.open({ storage: storageOf(driver) })
    const requests = isFull ? 20_000 : 300
    for (let count = 0; count < requests; count++) await read(server, `/teams/1?x=${count}`)
    expect([...driver.items.keys()].filter(key => key.startsWith('entry:')).length).toBeLessThanOrEqual(4_096)
    expect([...driver.items.keys()].filter(key => key.startsWith('entry:')).length).toBeGreaterThan(requests / 10)
  }, isFull ? 600_000 : 60_000)

  it.each(['not json', '{"text":1}', 'null', '{"text":"{}","etag":"x","expires":9e15,"reads":[],"generations":null}'])(
    'reads again instead of using %s',
    async (text) => {
      const driver = mapDriver()
      const server = await board.open({ storage: storageOf(driver) })
      await read(server)
      // Requests at the same time as the first one would share its response.
      await new Promise(resolve => setTimeout(resolve, 10))
      for (const [key, value] of driver.items) if (key.startsWith('entry:')) driver.items.set(key, `${value.split('\n')[0]}\n${text}`)
      expect((await read(server)).cache).toBe(STORED)
    },
  )

  it('answers without a storage that keeps nothing', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const server = await board.open({ storage: storageOf({ name: 'null', getItem: async () => null, setItem: async () => {} }) })
    for (let count = 0; count < 5; count++)
      expect(await read(server)).toEqual({ status: 200, name: 'red', cache: 'auto-api; fwd=bypass; detail=storage' })
    expect(log).toHaveBeenCalledOnce()
  })
})

describe.runIf(await isReachable(REDIS))('in Redis', () => {
  const folder = mkdtempSync(join(tmpdir(), 'auto-api-cache-'))
  const clients: Redis[] = []
  let port: number
  let process_: ChildProcess | undefined

  /** Starts a Redis of its own, with the file of the last one. */
  async function start(): Promise<void> {
    process_ = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '3600 1'], {
      stdio: 'ignore',
    })
    const probe = new Redis(port, '127.0.0.1', { retryStrategy: () => 50 })
    probe.on('error', () => {})
    await probe.ping()
    probe.disconnect()
  }
  async function stop(): Promise<void> {
    const ended = new Promise(resolve => process_!.once('exit', resolve))
    // Redis writes its file.
    process_!.kill('SIGTERM')
    await ended
  }
  function connect(): Redis {
    const client = new Redis(port, '127.0.0.1')
    clients.push(client)
    return client
  }

  beforeAll(async () => {
    const server = createNetServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
    await new Promise(resolve => server.close(resolve))
    await start()
  })
  afterAll(async () => {
    for (const client of clients) client.disconnect()
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const open = (base: string, plugins: AutoApiPlugin[] = []) =>
    board.open(false, { plugins: [responseCache({ storage: storageOf(redisDriver(connect(), base)), ttl: 30 }), ...plugins] })

  it(`never answers a read that began before a write after it: two servers, ${RACES} races`, async () => {
    const gate = createGate()
    const [reader, writer] = [await open('races', [gate.plugin]), await open('races')]
    for (let round = 0; round < RACES; round++) await race(reader, writer, gate, round)
  }, isFull ? 600_000 : 60_000)

  it('one of 1000 requests at the same time reads', async () => {
    const server = await open('cold')
    board.statements.length = 0
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => read(server)))
    expect(new Set(answers.map(({ status, name }) => `${status} ${name}`))).toEqual(new Set(['200 red']))
    expect(board.statements).toHaveLength(1)
  })

  it('responses end after `ttl`, and generations do not', async () => {
    await read(await open('ttl'))
    const client = connect()
    const keys = await client.keys('ttl:*')
    const entries = keys.filter(key => key.includes('entry:'))
    expect(entries).toHaveLength(1)
    expect(await client.ttl(entries[0]!)).toBeGreaterThan(0)
    expect(await client.ttl(entries[0]!)).toBeLessThanOrEqual(30)
    for (const key of keys) if (key !== entries[0]) expect(await client.ttl(key)).toBe(-1)
  })

  it('a lost invalidation ends with `ttl`', async () => {
    const [cached, plain] = [await board.open({ ttl: 1, storage: storageOf(redisDriver(connect(), 'lost')) }), await board.open(false)]
    await read(cached)
    // As if the server had been killed between the commit and the invalidation.
    await rename(plain, 'new')
    await new Promise(resolve => setTimeout(resolve, 1_050))
    expect((await read(cached)).name).toBe('new')
  })

  it('stopped: requests are answered without it, one line is logged, and nothing older than its return is used', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const [one, other, idle] = [await open('stop'), await open('stop'), await open('stop')]
    for (const server of [one, other, idle]) await read(server)
    expect((await read(one)).cache).toBe(HIT)
    await stop()
    expect(await read(one)).toEqual({ status: 200, name: 'red', cache: 'auto-api; fwd=bypass; detail=storage' })
    expect((await rename(one, 'changed while stopped')).status).toBe(200)
    for (let count = 0; count < 20; count++) expect((await read(one)).name).toBe('changed while stopped')
    expect(log.mock.calls.filter(([text]) => String(text).includes('responseCache'))).toHaveLength(1)
    await start()
    // Redis has the old responses and generations again. These servers have noticed nothing but the end of their connection.
    for (const server of [idle, other, one]) {
      for (let count = 0; count < 5; count++) expect((await read(server)).name).toBe('changed while stopped')
    }
    await vi.waitFor(async () => {
      for (const server of [one, other, idle]) expect((await read(server)).cache).toBe(HIT)
    }, { timeout: 10_000, interval: 200 })
    await rename(other, 'after the return')
    for (const server of [one, other, idle]) expect((await read(server)).name).toBe('after the return')
  }, 60_000)
})
