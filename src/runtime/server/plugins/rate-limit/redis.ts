/** Counting in Redis: one count for every server that shares it. */
import type { Count, Counter } from './counter'

/** The part of ioredis' client, single or cluster, that counting needs. */
export interface RedisClient {
  readonly eval: (script: string, keys: number, ...args: (string | number)[]) => Promise<unknown>
}

/**
 * Runs in Redis without anything in between. A key without an end would be refused for good: whichever request finds it
 * so gives it one.
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
 * @param connect the client; asked for with the first request, for a client connects as soon as it is made
 * @param base what the storage puts before each of its keys
 */
export function createRedisCounter(connect: () => RedisClient, base: string): Counter {
  return {
    async hit(key, milliseconds): Promise<Count> {
      const [count, left] = await connect().eval(HIT, 1, base + key, milliseconds) as [number, number]
      return { count, left }
    },
  }
}
