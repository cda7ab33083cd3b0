/** Measures how long a client lets the server wait. Otherwise, a few slow clients could hold the slots of all others. */

/** Milliseconds. A client that moves nothing for so long loses its file. Each chunk of {@link CHUNK} gives a tenth of this time back. */
export const STALL_LIMIT = 60_000

/** The size of a chunk in characters or bytes. A slow client needs less than the stall limit for it. */
export const CHUNK = 64 * 1024

/** The part of the stall limit that a chunk gives back. With a limit of a minute, a client needs 64 kB in six seconds. */
const REFUND = 0.1

export interface Patience {
  /** The server begins to wait for the client. `onEnd` runs if the wait uses up the time that is left. */
  readonly start: (onEnd: () => void) => void
  /** The wait is over. */
  readonly stop: () => void
  /** Gives time back for a chunk of this size. */
  readonly refund: (size: number) => void
}

/** @param limit milliseconds */
export function createPatience(limit: number): Patience {
  let timer: ReturnType<typeof setTimeout> | undefined
  /** The milliseconds that the client can still take. */
  let left = limit
  let since: number | undefined
  return {
    start(onEnd) {
      since = performance.now()
      timer = setTimeout(onEnd, left)
    },
    stop() {
      clearTimeout(timer)
      if (since !== undefined) left -= performance.now() - since
      since = undefined
    },
    refund(size) {
      left = Math.min(limit, Math.max(left, 0) + limit * REFUND * size / CHUNK)
    },
  }
}
