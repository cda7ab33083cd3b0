/** When the store that all share does not answer: each server counts by itself until it does. */
import type { Count, Counter } from './counter'

/** Milliseconds a request waits for the store: longer than a server that is very busy itself takes to hear the answer. */
const PATIENCE = 2_000
/** Milliseconds before a store that failed is asked again: until then no request waits for it. */
const RECOVERY = 5_000

/** Neither is the API closed while the store is away, nor is it open. */
export function withFallback(shared: Counter, local: Counter, now: () => number = () => performance.now()): Counter {
  let away = -Infinity
  return {
    async hit(key, milliseconds): Promise<Count> {
      if (now() - away >= RECOVERY) {
        try {
          return await withinTime(shared.hit(key, milliseconds))
        }
        catch (error) {
          away = now()
          console.error(
            `[auto-api] rateLimit: the store does not answer. This server counts by itself, and asks again in ${RECOVERY / 1000} s.`,
            error,
          )
        }
      }
      return local.hit(key, milliseconds)
    },
  }
}

async function withinTime<T>(answer: T | Promise<T>): Promise<T> {
  if (!(answer instanceof Promise)) return answer
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    // Once more round the event loop: the answer may have arrived while this server was busy.
    timer = setTimeout(() => {
      timer = setTimeout(() => reject(new Error(`No answer within ${PATIENCE} ms.`)), 10)
    }, PATIENCE)
  })
  try {
    return await Promise.race([answer, late])
  }
  finally {
    clearTimeout(timer)
  }
}
