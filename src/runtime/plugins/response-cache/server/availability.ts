/** Skips a storage that does not respond, and outdates everything in it before it is used again. */
import { withTimeout } from '../../../server/kit/process'

/** Milliseconds that a request waits for the storage. */
const TIMEOUT = 1_000
/** Milliseconds between two attempts to use the storage again. */
const RETRY = 1_000

export interface Availability {
  /**
   * Runs an operation of the storage. Returns `undefined` if the storage does not respond.
   * @param isWrite whether the operation outdates responses
   */
  readonly run: <T>(operation: () => Promise<T>, isWrite?: boolean) => Promise<T | undefined>
}

/**
 * @param recover outdates every response in the storage
 * @param onDisconnect calls its argument when the connection to the storage ends. Other servers can have missed writes then.
 */
export function createAvailability(recover: () => Promise<void>, onDisconnect?: (listen: () => void) => void): Availability {
  /** The number of failures so far. An operation that was running during a failure can have read what a missed write outdates. */
  let failures = 0
  let recovered = 0
  let failedAt = -Infinity
  let isLogged = false
  let isRecovering = false

  let timer: unknown

  onDisconnect?.(() => void failures++)

  function fail(error: unknown): void {
    failures++
    failedAt = performance.now()
    // Servers that did not fail find outdated responses until this one has recovered. So it does not wait for a request.
    timer ??= startTimer(() => {
      timer = undefined
      void isReady()
    })
    if (isLogged) return
    isLogged = true
    console.error('[auto-api] responseCache: the storage does not respond. Requests are answered without it until it returns.', error)
  }

  async function recoverOnce(): Promise<boolean> {
    const known = failures
    try {
      await withTimeout(recover(), TIMEOUT)
      recovered = known
      isLogged = false
    }
    catch (error) {
      fail(error)
    }
    // A write can have failed meanwhile.
    return recovered === failures
  }

  async function isReady(): Promise<boolean> {
    if (recovered === failures) return true
    if (isRecovering || performance.now() - failedAt < RETRY) return false
    isRecovering = true
    return recoverOnce().finally(() => isRecovering = false)
  }

  return {
    async run(operation, isWrite = false) {
      if (recovered !== failures && !await isReady()) {
        // The next recovery outdates what this write would.
        if (isWrite) failures++
        return undefined
      }
      const known = failures
      try {
        const result = await withTimeout(operation(), TIMEOUT)
        return known === failures ? result : undefined
      }
      catch (error) {
        fail(error)
        return undefined
      }
    },
  }
}

/** The timer does not keep the process alive. */
function startTimer(run: () => void): unknown {
  const timer: unknown = setTimeout(run, RETRY + 20)
  ;(timer as { readonly unref?: () => void }).unref?.()
  return timer
}
