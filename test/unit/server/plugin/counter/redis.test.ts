/** Counting in Redis: one count for all servers, in keys that always expire. */
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resolveStore } from '../../../../../src/runtime/server/plugin/counter/store'
import { createRedisCounter } from '../../../../../src/runtime/server/plugin/counter/redis'
import { isReachable, REDIS } from '../../../../support/services'

describe.runIf(await isReachable(REDIS))('in Redis', () => {
  const base = `rate-limit-${crypto.randomUUID()}:`
  const clients: Redis[] = []

  beforeAll(() => {
    for (let client = 0; client < 4; client++) clients.push(new Redis(REDIS.port, REDIS.host))
  })

  afterAll(async () => {
    const [client] = clients as [Redis]
    const left = await client.keys(`${base}*`)
    if (left.length > 0) await client.del(left)
    for (const client of clients) client.disconnect()
  })

  it('no two requests get the same count, from any number of servers', async () => {
    const counters = clients.map(client => createRedisCounter(() => client, base))
    const hits = await Promise.all(Array.from({ length: 400 }, (_, index) => counters[index % counters.length]!.hit('race', 60_000)))
    expect(hits.map(({ count }) => count).sort((a, b) => a - b)).toEqual(Array.from({ length: 400 }, (_, index) => index + 1))
  })

  it('a window begins with the first request, is not extended, and ends', async () => {
    const { hit } = createRedisCounter(() => clients[0]!, base)
    expect(await hit('window', 200)).toEqual({ count: 1, left: 200 })
    await new Promise(resolve => setTimeout(resolve, 50))
    const second = await hit('window', 200)
    expect(second.count).toBe(2)
    expect(second.left).toBeLessThanOrEqual(150)
    await new Promise(resolve => setTimeout(resolve, second.left + 50))
    expect(await hit('window', 200)).toEqual({ count: 1, left: 200 })
    expect(await clients[0]!.pttl(`${base}window`)).toBeGreaterThan(0)
  })

  it('a key without an expiry gets one', async () => {
    await clients[0]!.set(`${base}endless`, 5)
    expect(await createRedisCounter(() => clients[0]!, base).hit('endless', 60_000)).toEqual({ count: 6, left: 60_000 })
    expect(await clients[0]!.pttl(`${base}endless`)).toBeGreaterThan(50_000)
  })

  it('counts with a client that the driver connects later, as in unstorage 2', async () => {
    expect(await createRedisCounter(async () => clients[0]!, base).hit('later', 60_000)).toEqual({ count: 1, left: 60_000 })
  })

  it('a storage with the driver counts below the driver\'s base', async () => {
    const driver = { name: 'redis', options: { base: base.slice(0, -1) }, getInstance: () => clients[0]! }
    await resolveStore({ getMount: () => ({ base: '', driver }) }, 10, () => undefined).hit('based', 60_000)
    expect(await clients[1]!.get(`${base}based`)).toBe('1')
  })
})

it('connects with the first request, not when the server starts', () => {
  const driver = { name: 'redis', getInstance: () => expect.fail('connected') }
  expect(() => resolveStore({ getMount: () => ({ base: '', driver }) }, 10, () => undefined)).not.toThrow()
})
