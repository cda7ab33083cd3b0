/** The storages that can store responses, with the same functions for each. */
import type { Awaitable } from '../../../server/kit/process'
import type { FindStorage, StorageDriver, StorageMounts } from '../../../server/plugin/storage'

type Pair = readonly [key: string, value: string]

export interface KeyValue {
  /** Reads all keys at one time, or one after another. */
  readonly getAll: (keys: readonly string[]) => Promise<readonly (string | null)[]>
  /** @param ttl seconds */
  readonly set: (key: string, value: string, ttl: number) => Promise<void>
  readonly setAll: (pairs: readonly Pair[]) => Promise<void>
  /** Sets the keys that do not exist. */
  readonly create: (pairs: readonly Pair[]) => Promise<void>
  readonly onDisconnect?: (listen: () => void) => void
}

/** The part of ioredis' client, single or cluster, that this file needs. */
export interface RedisClient {
  readonly mget: (keys: string[]) => Promise<(string | null)[]>
  readonly mset: (...pairs: string[]) => Promise<unknown>
  readonly set: (key: string, value: string, ...options: (string | number)[]) => Promise<unknown>
  readonly status?: string
  readonly on: (event: 'close' | 'error', listen: () => void) => unknown
}

/**
 * Returns `undefined` for a storage in the memory of the server.
 * @throws When the storage does not exist.
 */
export function resolveKeyValue(storage: string | StorageMounts, findStorage: FindStorage): KeyValue | undefined {
  const driver = typeof storage === 'string' ? findStorage(storage) : rootOf(storage)
  if (!driver)
    throw new Error(
      `[auto-api] responseCache: Storage \`${String(storage)}\` is not configured. Add it to \`nitro.storage\` in nuxt.config, `
      + `such as \`${String(storage)}: { driver: 'redis', url: … }\`.`,
    )
  if (driver.name === 'memory') return undefined
  if (driver.name !== 'redis') return createDriverStorage(driver as unknown as ItemDriver)
  const { options, getInstance } = driver
  const base = typeof options?.base === 'string' && options.base !== '' ? `${options.base.replace(/:$/, '')}:` : ''
  return createRedisStorage(() => getInstance!() as Awaitable<RedisClient>, base)
}

function rootOf(storage: StorageMounts): StorageDriver {
  if (typeof storage.getMount !== 'function')
    throw new TypeError('[auto-api] `responseCache.storage` is no storage of unstorage.')
  return storage.getMount('').driver
}

/** @param connect returns the client. It runs at the first request, because a client connects as soon as it is created. */
export function createRedisStorage(connect: () => Awaitable<RedisClient>, base: string): KeyValue {
  const listeners: (() => void)[] = []
  let connected: Promise<RedisClient> | undefined
  const open = () => connected ??= Promise.resolve(connect()).then((client) => {
    client.on('close', () => listeners.forEach(listen => listen()))
    // The operation that fails reports the error. Without a listener, ioredis logs each attempt to connect.
    client.on('error', () => {})
    return client
  })
  const client = async () => {
    const found = await open()
    // ioredis would keep the command until it is connected again, which a request cannot wait for.
    if (found.status === 'reconnecting') throw new Error('There is no connection to Redis.')
    return found
  }
  // The braces keep all keys on one node of a cluster, so that one command can read them.
  const toKey = (key: string) => `${base}{auto-api-cache}:${key}`
  return {
    getAll: async keys => (await client()).mget(keys.map(toKey)),
    set: async (key, value, ttl) => void await (await client()).set(toKey(key), value, 'EX', ttl),
    setAll: async pairs => void await (await client()).mset(...pairs.flatMap(([key, value]) => [toKey(key), value])),
    async create(pairs) {
      const found = await client()
      await Promise.all(pairs.map(([key, value]) => found.set(toKey(key), value, 'NX')))
    },
    onDisconnect: listen => void listeners.push(listen),
  }
}

/** The functions of an unstorage driver. */
interface ItemDriver {
  readonly getItem: (key: string, options: object) => unknown
  readonly setItem: (key: string, value: string, options: object) => unknown
}

/** Not every driver removes responses after `ttl`. So an entry shares its place with others, and their number is limited. */
const PLACES = 16 ** 3

export function createDriverStorage({ getItem, setItem }: ItemDriver): KeyValue {
  const get = async (key: string) => {
    const value: unknown = await getItem(key, {})
    // Some drivers parse what looks like JSON.
    return value === null || value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value)
  }
  const set = async (key: string, value: string, options: object = {}) => void await setItem(key, value, options)
  const setAll = async (pairs: readonly Pair[]) => void await Promise.all(pairs.map(([key, value]) => set(key, value)))
  return {
    async getAll([entry, ...keys]) {
      // Generations come first: an entry that is read later can only be newer.
      const generations = await Promise.all(keys.map(get))
      const found = await get(toPlace(entry!))
      return [found !== null && found.startsWith(`${entry}\n`) ? found.slice(entry!.length + 1) : null, ...generations]
    },
    set: (key, value, ttl) => set(toPlace(key), `${key}\n${value}`, { ttl }),
    setAll,
    create: setAll,
  }
}

function toPlace(key: string): string {
  let hash = 0
  for (let index = 0; index < key.length; index++) hash = (hash * 31 + key.charCodeAt(index)) >>> 0
  return `entry:${(hash % PLACES).toString(16)}`
}
