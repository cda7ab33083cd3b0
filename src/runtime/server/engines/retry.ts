/** Repeats a commit after a conflict with another one, a locked database or a lost cluster. A failed attempt changed nothing. */
import { BusyError, ExpectationError } from './engine'

const ATTEMPTS = 8
/** The base of the delay before the second attempt, in milliseconds. */
const BASE_DELAY = 4

const CODES = new Set<unknown>([
  // Postgres: serialization failure, deadlock, lock not available
  '40001', '40P01', '55P03',
  // MySQL: deadlock, lock wait timeout
  'ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 1213, 1205,
  // MariaDB: the record has changed since it was read
  'ER_CHECKREAD', 1020,
  'SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_BUSY_RECOVERY', 'SQLITE_BUSY_TIMEOUT', 'SQLITE_LOCKED', 'SQLITE_LOCKED_SHAREDCACHE',
])

/** Galera: the node has lost its cluster, or has not caught up with it. A commit that it reports as failed is on no node. */
const LOST_CLUSTER = new Set<unknown>(['ER_UNKNOWN_COM_ERROR', 'ER_ERROR_DURING_COMMIT', 1047, 1180])

/** The delay doubles with each attempt. Jitter keeps two conflicting commits from conflicting again. */
const backOff = (attempt: number) =>
  new Promise<void>(resolve => setTimeout(resolve, BASE_DELAY * 2 ** attempt * (0.5 + Math.random())))

/**
 * Runs again after an error that a new attempt can avoid, up to eight times.
 * @param toError the error after the last attempt
 */
export async function repeat<T>(
  run: (attempt: number) => Promise<T>, canRepeat: (error: unknown) => boolean, toError: (error: unknown) => unknown,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run(attempt)
    }
    catch (error) {
      if (!canRepeat(error)) throw error
      if (attempt === ATTEMPTS) throw toError(error)
      await backOff(attempt)
    }
  }
}

/** @param shouldRetry whether the commit is repeated when the expectation of the statement at this index is not met */
export const withRetries = <T>(run: () => Promise<T>, shouldRetry: (index: number) => boolean): Promise<T> =>
  repeat(run, error => error instanceof ExpectationError ? shouldRetry(error.index) : isTransient(error), error => new BusyError(error))

/** Whether an error or one of its causes is temporary. */
export const isTransient = (error: unknown): boolean => hasCode(error, CODES) || hasLostCluster(error)

/** Whether a node of Galera accepts no statements. */
export const hasLostCluster = (error: unknown): boolean => hasCode(error, LOST_CLUSTER)

/** A driver wraps the database's error, and Drizzle wraps the driver's error. */
function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  for (
    let current = error as { code?: unknown, errno?: unknown, cause?: unknown } | undefined, depth = 0;
    current && depth < 5;
    current = current.cause as typeof current, depth++
  ) {
    if (codes.has(current.code) || codes.has(current.errno)) return true
  }
  return false
}
