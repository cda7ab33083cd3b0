/** Carries messages by publish and subscribe of Redis. */
import type { Awaitable } from '../../core/awaitable'
import { withTimeout } from '../../core/process/timeout'
import type { FindStorage } from '../storage'
import type { Transport } from './contract'

/** The part of ioredis' client, single or cluster, that a channel needs. */
export interface RedisChannelClient {
  readonly publish: (channel: string, text: string) => Promise<unknown>
  /** Returns a client with a connection of its own, because a connection that subscribes does nothing else. */
  readonly duplicate: () => RedisSubscriber
}

interface RedisSubscriber {
  readonly on: (event: string, listen: (...values: readonly never[]) => void) => unknown
  readonly subscribe: (...channels: string[]) => Promise<unknown>
  readonly disconnect: () => unknown
}

/** Redis accepts 512 MB. */
const MAX_LENGTH = 16 * 1024 * 1024
const CONNECT_WITHIN = 5_000

export function createRedisTransport(connect: () => Awaitable<RedisChannelClient>): Transport {
  return {
    maxLength: MAX_LENGTH,
    async connect(names, { receive, lose }) {
      const client = await connect()
      const subscriber = client.duplicate()
      // The end of the connection follows.
      subscriber.on('error', () => {})
      subscriber.on('close', () => lose(new Error('The connection has ended.')))
      subscriber.on('message', (_: string, text: string) => receive(text))
      try {
        await withTimeout(subscriber.subscribe(...names), CONNECT_WITHIN)
      }
      catch (error) {
        subscriber.disconnect()
        throw error
      }
      return { publish: text => client.publish(names[0], text), close: async () => subscriber.disconnect() }
    },
  }
}

/**
 * Finds the client of a storage in `nitro.storage`. The storage connects when it is first used.
 * @param where the option, for messages
 * @throws When the storage does not exist, or has another driver.
 */
export function findRedis(storage: string, findStorage: FindStorage, where: string): () => Awaitable<RedisChannelClient> {
  const driver = findStorage(storage)
  if (!driver)
    throw new Error(
      `[auto-api] \`${where}\`: storage \`${storage}\` is not configured. Add it to \`nitro.storage\` in nuxt.config, `
      + `such as \`${storage}: { driver: 'redis', url: … }\`.`,
    )
  if (driver.name !== 'redis' || !driver.getInstance)
    throw new Error(
      `[auto-api] \`${where}\`: storage \`${storage}\` has the driver \`${driver.name ?? 'unknown'}\`, which carries no messages. `
      + 'Use the driver `redis`.',
    )
  return () => driver.getInstance!() as Awaitable<RedisChannelClient>
}
