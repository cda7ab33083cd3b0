/** Repeats a commit after a deadlock, a serialization failure or a locked database: nothing of it was applied. */
import { BusyError, ExpectationError } from './engine'

const ATTEMPTS = 8
/** Milliseconds before the second attempt. */
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

/** Waits twice as long after each attempt, with jitter, so that two conflicting commits do not conflict again. */
export const backOff = (attempt: number) =>
  new Promise<void>(resolve => setTimeout(resolve, BASE_DELAY * 2 ** attempt * (0.5 + Math.random())))

/** @param shouldRetry whether the statement at this index repeats the commit when its expectation is not met. */
export async function withRetries<T>(run: () => Promise<T>, shouldRetry: (index: number) => boolean): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    }
    catch (error) {
      if (!(error instanceof ExpectationError ? shouldRetry(error.index) : isTransient(error))) throw error
      if (attempt === ATTEMPTS) throw new BusyError(error)
      await backOff(attempt)
    }
  }
}

/** Drivers wrap the database's error, and Drizzle wraps theirs. */
export function isTransient(error: unknown): boolean {
  for (
    let current = error as { code?: unknown, errno?: unknown, cause?: unknown } | undefined, depth = 0;
    current && depth < 5;
    current = current.cause as typeof current, depth++
  ) {
    if (CODES.has(current.code) || CODES.has(current.errno)) return true
  }
  return false
}
