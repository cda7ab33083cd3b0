/** While the shared store does not respond, each server counts by itself. */
import type { Count, Counter } from './counter'

/** Milliseconds a request waits for the store: longer than a busy server needs to receive the response. */
const TIMEOUT = 2_000
/** Milliseconds before a store that failed is used again. Until then no request waits for it. */
const RECOVERY = 5_000

/** While the store is away, requests are still allowed and still limited. */
export function withFallback(shared: Counter, local: Counter, now: () => number = () => performance.now()): Counter {
  let away = -Infinity
  return {
    async hit(key, milliseconds): Promise<Count> {
      if (now() - away >= RECOVERY) {
        try {
          return await withTimeout(shared.hit(key, milliseconds))
        }
        catch (error) {
          away = now()
          console.error(
            `[auto-api] rateLimit: the store does not respond. This server counts by itself, and tries again in ${RECOVERY / 1000} s.`,
            error,
          )
        }
      }
      return local.hit(key, milliseconds)
    },
  }
}

async function withTimeout<T>(result: T | Promise<T>): Promise<T> {
  if (!(result instanceof Promise)) return result
  let timer: ReturnType<typeof setTimeout> | undefined
  const timedOut = new Promise<never>((_, reject) => {
    // One more turn of the event loop: the response may have arrived while this server was busy.
    timer = setTimeout(() => {
      timer = setTimeout(() => reject(new Error(`No response within ${TIMEOUT} ms.`)), 10)
    }, TIMEOUT)
  })
  try {
    return await Promise.race([result, timedOut])
  }
  finally {
    clearTimeout(timer)
  }
}
