/** Counts requests on each server separately while the shared store does not respond. */
import { withTimeout } from '../../core/process/timeout'
import type { Count, Counter } from './memory'

/** Milliseconds that a request waits for the store. This is long enough for a busy server to process the response. */
const TIMEOUT = 2_000
/** Milliseconds after a failure during which requests do not use the store, so that they do not wait for it. */
const RECOVERY = 5_000

/** Uses the local counter while the shared store fails, so that requests are neither refused nor unlimited. */
export function withFallback(shared: Counter, local: Counter, now: () => number = () => performance.now()): Counter {
  let failedAt = -Infinity
  return {
    async hit(key, milliseconds): Promise<Count> {
      if (now() - failedAt >= RECOVERY) {
        try {
          return await withTimeout(shared.hit(key, milliseconds), TIMEOUT)
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
