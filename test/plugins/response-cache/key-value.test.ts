/** The storages that can store responses: which one an option names, and what is sent to Redis and to other drivers. */
import { describe, expect, it, vi } from 'vitest'
import {
  createDriverStorage,
  createRedisStorage,
  resolveKeyValue,
  type RedisClient,
} from '../../../src/runtime/plugins/response-cache/server/key-value'
import type { StorageDriver, StorageMounts } from '../../../src/runtime/server/plugin/storage'

/** A client of Redis that stores in memory and remembers its commands. */
function createClient(status?: string) {
  const items = new Map<string, string>()
  const commands: unknown[][] = []
  const listeners: Record<string, () => void> = {}
  const client = {
    status,
    mget: async (keys: string[]) => (commands.push(['mget', ...keys]), keys.map(key => items.get(key) ?? null)),
    mset: async (...pairs: string[]) => void commands.push(['mset', ...pairs]),
    set: async (...words: unknown[]) => void commands.push(['set', ...words]),
    on: (event: string, listen: () => void) => (listeners[event] = listen),
  }
  return { client: client as { -readonly [K in keyof RedisClient]: RedisClient[K] }, commands, items, listeners }
}
const mounted = (driver: StorageDriver): StorageMounts => ({ getMount: () => ({ base: '', driver }) })
const nowhere = () => undefined

describe('the option `storage`', () => {
  it('is the name of a storage of Nitro, or a storage', async () => {
    const driver = { name: 'map', getItem: vi.fn(() => null), setItem: () => {} } as StorageDriver
    const find = vi.fn((name: string) => name === 'responses' ? driver : undefined)
    expect(await resolveKeyValue('responses', find)!.getAll(['entry:a', 'b'])).toEqual([null, null])
    expect(find).toHaveBeenCalledWith('responses')
    expect(await resolveKeyValue(mounted(driver), nowhere)!.getAll(['entry:a', 'b'])).toEqual([null, null])
  })

  it('that names nothing fails, and says where to add it', () => {
    expect(() => resolveKeyValue('nowhere', nowhere)).toThrow(
      '[auto-api] responseCache: Storage `nowhere` is not configured. Add it to `nitro.storage` in nuxt.config, such as `nowhere: { driver: \'redis\', url: … }`.',
    )
  })

  it('that is no storage fails', () => {
    expect(() => resolveKeyValue({} as StorageMounts, nowhere)).toThrow(
      new TypeError('[auto-api] `responseCache.storage` is no storage of unstorage.'),
    )
  })

  it('with the driver `memory` is the memory of the server', () => {
    expect(resolveKeyValue(mounted({ name: 'memory' }), nowhere)).toBeUndefined()
  })

  it.each([
    [undefined, ''],
    ['', ''],
    ['app', 'app:'],
    ['app:', 'app:'],
    ['a:b', 'a:b:'],
    [5, ''],
  ])('with the driver `redis` and the base %j has keys that begin with %j', async (base, start) => {
    const { client, commands } = createClient()
    const getInstance = vi.fn(() => client)
    const storage = resolveKeyValue(mounted({ name: 'redis', options: { base }, getInstance }), nowhere)!
    expect(getInstance).not.toHaveBeenCalled()
    await storage.getAll(['x'])
    expect(commands).toEqual([['mget', `${start}{auto-api-cache}:x`]])
  })

  it('with the driver `redis` needs no options', async () => {
    const { client, commands } = createClient()
    await resolveKeyValue(mounted({ name: 'redis', getInstance: () => client }), nowhere)!.getAll(['x'])
    expect(commands).toEqual([['mget', '{auto-api-cache}:x']])
  })
})

describe('Redis', () => {
  it('gets one command for all keys, with the time to live of an entry, and creates only what is missing', async () => {
    const { client, commands, items } = createClient()
    const connect = vi.fn(async () => client)
    const storage = createRedisStorage(connect, 'app:')
    items.set('app:{auto-api-cache}:b', '2')
    expect(await storage.getAll(['a', 'b'])).toEqual([null, '2'])
    await storage.set('a', 'text', 30)
    await storage.setAll([['a', '1'], ['b', '2']])
    await storage.create([['a', '1'], ['b', '2']])
    const [a, b] = ['app:{auto-api-cache}:a', 'app:{auto-api-cache}:b']
    expect(commands).toEqual([
      ['mget', a, b], ['set', a, 'text', 'EX', 30], ['mset', a, '1', b, '2'], ['set', a, '1', 'NX'], ['set', b, '2', 'NX'],
    ])
    expect(connect).toHaveBeenCalledOnce()
  })

  it('that is connecting again fails at once, because ioredis would wait', async () => {
    const { client } = createClient('reconnecting')
    const storage = createRedisStorage(() => client, '')
    await expect(storage.getAll(['a'])).rejects.toThrow('There is no connection to Redis.')
    client.status = 'ready'
    expect(await storage.getAll(['a'])).toEqual([null])
  })

  it('reports the end of its connection to every listener, and no errors that an operation reports', async () => {
    const { client, listeners } = createClient()
    const storage = createRedisStorage(() => client, '')
    const [one, other] = [vi.fn(), vi.fn()]
    storage.onDisconnect!(one)
    storage.onDisconnect!(other)
    await storage.getAll(['a'])
    listeners.error!()
    expect([one.mock.calls.length, other.mock.calls.length]).toEqual([0, 0])
    listeners.close!()
    expect([one.mock.calls.length, other.mock.calls.length]).toEqual([1, 1])
  })
})

describe('another driver', () => {
  function createMap(parses = false) {
    const items = new Map<string, unknown>()
    const set: unknown[][] = []
    const reads: string[] = []
    const storage = createDriverStorage({
      getItem: key => (reads.push(key), items.get(key)),
      setItem: (key, value, options) => {
        set.push([key, options])
        items.set(key, parses && /^["{[\d]/.test(value) ? JSON.parse(value) as unknown : value)
      },
    })
    return { storage, items, set, reads }
  }

  it('stores entries with their time to live, and generations without', async () => {
    const { storage, set } = createMap()
    await storage.set('entry:a', 'text', 30)
    await storage.setAll([['generation:a', '1']])
    await storage.create([['generation:b', '2']])
    expect(set).toEqual([[expect.stringMatching(/^entry:[\da-f]{1,3}$/), { ttl: 30 }], ['generation:a', {}], ['generation:b', {}]])
    expect(await storage.getAll(['entry:a', 'generation:a', 'generation:b', 'generation:c'])).toEqual(['text', '1', '2', null])
    expect(await storage.getAll(['entry:other'])).toEqual([null])
  })

  it('reads the generations before the entry, which can then only be newer', async () => {
    const { storage, reads } = createMap()
    await storage.getAll(['entry:a', 'generation:a', 'generation:b'])
    expect(reads).toEqual(['generation:a', 'generation:b', expect.stringMatching(/^entry:/)])
  })

  it('can parse what looks like JSON, and can return undefined for nothing', async () => {
    const { storage } = createMap(true)
    await storage.setAll([['generation:a', '12345'], ['generation:b', '{"a":1}']])
    expect(await storage.getAll(['entry:a', 'generation:a', 'generation:b', 'generation:c'])).toEqual([null, '12345', '{"a":1}', null])
  })

  it('shares places between entries, and never returns the entry of another key', async () => {
    const { storage, items } = createMap()
    for (let index = 0; index < 20_000; index++) await storage.set(`entry:${index}`, String(index), 30)
    expect(items.size).toBeLessThanOrEqual(4096)
    expect(items.size).toBeGreaterThan(3000)
    for (let index = 0; index < 20_000; index++) expect([null, String(index)]).toContain((await storage.getAll([`entry:${index}`]))[0])
    expect((await storage.getAll(['entry:19999']))[0]).toBe('19999')
    // The beginning of a key is another key.
    expect(await storage.getAll(['entry:1999'])).not.toEqual(['9'])
  })
})
