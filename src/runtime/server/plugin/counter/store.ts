/** Creates the counter of a store: in this server, or in a storage that servers share. */
import type { Awaitable } from '../../core/awaitable'
import type { FindStorage, StorageDriver, StorageMounts } from '../storage'
import { createMemoryCounter, type Counter } from './memory'
import { createRedisCounter, type RedisClient } from './redis'
import { withFallback } from './fallback'

/** An unstorage storage, or anything that counts atomically among all servers that share it. */
export type Store = StorageMounts | Counter

/** The unstorage drivers that can count. Other drivers only read and write, so two servers could read the same count. */
const DRIVERS: Readonly<Record<string, (driver: StorageDriver, maxKeys: number) => Counter>> = {
  redis: ({ options, getInstance }, maxKeys) =>
    withFallback(
      createRedisCounter(() => getInstance!() as Awaitable<RedisClient>, toBase(options?.base)),
      createMemoryCounter(maxKeys),
    ),
  memory: (_, maxKeys) => createMemoryCounter(maxKeys),
}

/**
 * @param plugin the name of the plugin, for messages
 * @throws When the storage does not exist, or its driver cannot count.
 */
export function resolveStore(store: string | Store | undefined, maxKeys: number, findStorage: FindStorage, plugin = 'rateLimit'): Counter {
  if (store === undefined) return createMemoryCounter(maxKeys)
  if (typeof store === 'object' && 'hit' in store) return withFallback(store, createMemoryCounter(maxKeys))
  const named = typeof store === 'string' ? `Storage \`${store}\`` : 'The storage'
  const driver = typeof store === 'string' ? findStorage(store) : rootOf(store, plugin)
  if (!driver)
    throw new Error(
      `[auto-api] ${plugin}: ${named} is not configured. Add it to \`nitro.storage\` in nuxt.config, `
      + `such as \`${String(store)}: { driver: 'redis', url: … }\`.`,
    )
  const create = Object.hasOwn(DRIVERS, driver.name ?? '') ? DRIVERS[driver.name!] : undefined
  if (!create)
    throw new Error(
      `[auto-api] ${plugin}: ${named} has the driver \`${driver.name ?? 'unknown'}\`, which cannot count for several servers at once. `
      + `Use one of: ${Object.keys(DRIVERS).join(', ')}; or pass a counter of your own from a server file.`,
    )
  return create(driver, maxKeys)
}

function rootOf(store: StorageMounts, plugin: string): StorageDriver {
  if (typeof store.getMount !== 'function')
    throw new TypeError(`[auto-api] \`${plugin}.store\` is neither a storage of unstorage nor a counter with a function \`hit\`.`)
  return store.getMount('').driver
}

/** Converts `base` to the prefix that the driver adds to its keys. */
const toBase = (base: unknown) => typeof base === 'string' && base !== '' ? `${base.replace(/:$/, '')}:` : ''
