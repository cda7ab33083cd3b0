/** Counts requests in Redis, for all servers that share it. */
import type { Awaitable } from '../../core/awaitable'
import type { Count, Counter } from './memory'

/** The part of ioredis' client, single or cluster, that counting needs. */
export interface RedisClient {
  readonly eval: (script: string, keys: number, ...args: (string | number)[]) => Promise<unknown>
}

/**
 * Runs in Redis atomically. A key without an expiry would refuse its requests forever, so the request that finds such a key
 * sets its expiry.
 */
const HIT = `
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], left)
end
return { count, left }`

/**
 * @param connect returns the client, or a promise of it in unstorage 2. It runs at the first request, because a client connects as soon
 * as it is created
 * @param base the prefix of the storage's keys
 */
export function createRedisCounter(connect: () => Awaitable<RedisClient>, base: string): Counter {
  return {
    async hit(key, milliseconds): Promise<Count> {
      const [count, left] = await (await connect()).eval(HIT, 1, base + key, milliseconds) as [number, number]
      return { count, left }
    },
  }
}
