/** Counts requests on each server separately while the shared store does not respond. */
import type { Count, Counter } from './counter'

/** Milliseconds that a request waits for the store. Long enough for a busy server to process the response. */
const TIMEOUT = 2_000
/** Milliseconds after a failure in which the store is not used, so that no request waits for it. */
const RECOVERY = 5_000

/** Uses the local counter while the shared store fails, so that requests are neither refused nor unlimited. */
export function withFallback(shared: Counter, local: Counter, now: () => number = () => performance.now()): Counter {
  let failedAt = -Infinity
  return {
    async hit(key, milliseconds): Promise<Count> {
      if (now() - failedAt >= RECOVERY) {
        try {
          return await withTimeout(shared.hit(key, milliseconds))
        }
        catch (error) {
          failedAt = now()
          console.error(
            `[auto-api] rateLimit: the store does not respond. This server counts on its own and retries in ${RECOVERY / 1000} s.`,
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
    // A second timer, because the response may have arrived while this server was busy. The event loop then processes it first.
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
