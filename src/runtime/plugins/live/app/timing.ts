/** When the client reconnects, and how long it waits for what. All times are in milliseconds. */
import type { AutoApiError } from '../../../app/error'

export interface Timing {
  /** A stream that says nothing for so long is dead: the server sends a comment every 25 seconds. */
  readonly silence: number
  /** The longest wait after the first failure. Each further one doubles it. */
  readonly firstDelay: number
  readonly maxDelay: number
  /** How long the stream waits for further resources before it opens anew. */
  readonly gather: number
  /** How long resources that no tab needs any more stay in the stream. A page change rarely removes them for good. */
  readonly linger: number
  /** The least time between two refetches because of one resource. */
  readonly refetch: number
}

export const TIMING: Timing = Object.freeze({
  silence: 60_000, firstDelay: 1_000, maxDelay: 30_000, gather: 50, linger: 2_000, refetch: 250,
})

/** Returns the wait after some failures in a row. It is random, so that the clients of a server that restarts do not return at once. */
export function delayAfter(failures: number, { firstDelay, maxDelay }: Timing): number {
  const longest = Math.min(maxDelay, firstDelay * 2 ** Math.min(failures, 16))
  return longest * (0.5 + Math.random() / 2)
}

/** Returns the wait that a response asks for in `Retry-After`, in seconds or as a date, and up to a fifth more. */
export function retryAfter({ cause }: AutoApiError): number | undefined {
  const value = (cause as { response?: Response } | undefined)?.response?.headers.get('retry-after')
  if (!value) return undefined
  const wait = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return Number.isNaN(wait) ? undefined : Math.max(0, wait) * (1 + Math.random() / 5)
}

/** Whether the same request can succeed later. */
export const isTransient = ({ status }: { readonly status?: number }): boolean =>
  status === undefined || status === 0 || status === 408 || status === 429 || status >= 500

/** Waits. Ends early, without an error, when the signal is aborted. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal.addEventListener('abort', end)
  })
}

/** Whether a query that failed can have a response later: its record is created, or the server is back. */
export const canRecover = (error: Error | null): boolean => {
  if (error === null) return false
  const { status } = error as { readonly status?: number }
  return status === 404 || isTransient({ status })
}
