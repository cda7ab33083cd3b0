/** Random writes and reads over a replica that is held back and cut off all the time: nobody reads anything older than their last write. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { TestServer } from '../support/server'
import { hasMariadbReplica, openMariadb } from './support/mariadb-replica'
import { hasReplica, openReplicated, type Replicated } from './support/replica'
import {
  createBrowser,
  createScript,
  MARIADB_POSTS_SQL,
  OURS,
  POSTS_SQL,
  startServer,
  THEIRS,
  type Client,
} from './support/replicated-posts'
import { isRelease } from '../support/tiers'

const TURN = 240_000
/** Steps of each client. */
const STEPS = isRelease ? 1_000 : 200

/** Numbers from 0 to 1 that depend on the seed only. */
function createRandom(seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6D2B79F5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296
  }
}

const SERVERS = [
  { name: 'Postgres', isAvailable: hasReplica, open: () => openReplicated(POSTS_SQL) },
  { name: 'MariaDB', isAvailable: hasMariadbReplica, open: () => openMariadb(MARIADB_POSTS_SQL) },
]

describe.each(SERVERS)('$name', ({ isAvailable, open }) => {
  let opened: Replicated

  beforeAll(async () => {
    if (isAvailable) opened = await open()
  }, TURN)
  afterAll(() => opened?.close())
  afterEach(() => vi.restoreAllMocks())

  it.skipIf(!isAvailable)('no client reads anything older than their last write, or rows of others', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {})
    vi.spyOn(console, 'info').mockImplementation(() => {})
    const seed = Math.floor(Math.random() * 2 ** 31)
    const servers = [await startServer(opened), await startServer(opened, { maxLag: 500 })]
    const reads = { replica: 0, primary: 0 }

    async function run(client: Client, name: string, tenant: string, random: () => number) {
      const where = `${name}, seed ${seed}`
      const filter = `filter=${encodeURIComponent(JSON.stringify({ title: { $like: `${tenant} ${name}%` } }))}`
      /** The version of each post that exists. */
      const model = new Map<number, number>()
      const deleted: number[] = []
      const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!
      const expected = () => [...model].map(([id, version]) => ({ id, version })).sort((a, b) => a.id - b.id)
      const steps = {
        async create() {
          const { status, body } = await client.send('POST', '/posts', { title: `${tenant} ${name}` })
          expect(status, where).toBe(201)
          model.set(body.id, 0)
        },
        async update() {
          if (model.size === 0) return
          const id = pick([...model.keys()])
          const version = model.get(id)! + 1
          expect((await client.send('PATCH', `/posts/${id}`, { version })).status, where).toBe(200)
          model.set(id, version)
        },
        async remove() {
          if (model.size < 3) return
          const id = pick([...model.keys()])
          expect((await client.send('DELETE', `/posts/${id}`)).status, where).toBe(200)
          model.delete(id)
          deleted.push(id)
        },
        async get() {
          if (model.size === 0) return
          const [id, version] = pick([...model])
          const { status, body } = await client.send('GET', `/seen/${id}`)
          expect([status, body.version], where).toEqual([200, version])
          reads[body.fromReplica ? 'replica' : 'primary']++
        },
        async list() {
          const { body } = await client.send('GET', `/seen?${filter}&sort=id&limit=100&fields=id,version`)
          expect(body.data, where).toEqual(expected())
          expect(body.meta.total, where).toBe(model.size)
        },
        async aggregate() {
          const { body } = await client.send('GET', `/posts/aggregate?aggregate=count,sum(version)&${filter}`)
          expect(body.data[0].count, where).toBe(model.size)
        },
        async gone() {
          if (deleted.length > 0) expect((await client.send('GET', `/posts/${pick(deleted)}`)).status, where).toBe(404)
        },
        async everything() {
          const { body } = await client.send('GET', '/posts?limit=100')
          for (const { title } of body.data) expect(title, where).toMatch(new RegExp(`^${tenant}`))
        },
      }
      const table = [
        steps.create,
        steps.update,
        steps.update,
        steps.remove,
        steps.get,
        steps.get,
        steps.get,
        steps.get,
        steps.list,
        steps.aggregate,
        steps.gone,
        steps.everything,
      ]
      for (let step = 0; step < STEPS; step++) {
        await pick(table)()
        // Sometimes the replica can catch up.
        if (random() < 0.1) await new Promise(resolve => setTimeout(resolve, random() * 60))
      }
    }

    let isDone = false
    async function disturb(random: () => number) {
      while (!isDone) {
        const kind = random()
        if (kind < 0.7) await opened.pause()
        else await opened.link.stop()
        await new Promise(resolve => setTimeout(resolve, 10 + random() * 150))
        await opened.resume()
        await opened.link.start()
        await new Promise(resolve => setTimeout(resolve, 20 + random() * 250))
      }
    }

    const random = createRandom(seed)
    const either: TestServer = { ...servers[0]!, request: (...args) => servers[random() < 0.5 ? 0 : 1]!.request(...args) }
    const clients = [createBrowser(either, OURS), createScript(either, OURS), createBrowser(either, THEIRS), createScript(either, THEIRS)]
    const disturbing = disturb(createRandom(seed + 100))
    try {
      await Promise.all(
        clients.map((client, index) => run(client, `client ${index}`, index < 2 ? 'ours' : 'theirs', createRandom(seed + index))),
      )
    }
    finally {
      isDone = true
      await disturbing
    }
    // Both have been used.
    expect(reads.replica, String(seed)).toBeGreaterThan(STEPS / 20)
    expect(reads.primary, String(seed)).toBeGreaterThan(STEPS / 20)
  })
})
