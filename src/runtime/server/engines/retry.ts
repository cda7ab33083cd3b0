/** Deadlocks, serialization failures and locked databases: nothing was applied, so it is tried again, a few times. */
import { BusyError, ExpectationError } from './engine'

const ATTEMPTS = 8
/** Milliseconds; doubled each time, and never the same for two commits that met. */
const PAUSE = 4

const CODES = new Set<unknown>([
  // Postgres: serialization failure, deadlock, lock not available
  '40001', '40P01', '55P03',
  // MySQL: deadlock, lock wait timeout
  'ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 1213, 1205,
  // MariaDB: the record has changed since it was read
  'ER_CHECKREAD', 1020,
  'SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_BUSY_RECOVERY', 'SQLITE_BUSY_TIMEOUT', 'SQLITE_LOCKED', 'SQLITE_LOCKED_SHAREDCACHE',
])

/** Longer after every attempt, and never the same for two that met. */
export const backOff = (attempt: number) => new Promise<void>(resolve => setTimeout(resolve, PAUSE * 2 ** attempt * (0.5 + Math.random())))

/** @param again whether the guard at this place asks for another attempt. */
export async function withRetries<T>(run: () => Promise<T>, again: (index: number) => boolean): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    }
    catch (error) {
      if (!(error instanceof ExpectationError ? again(error.index) : isTransient(error))) throw error
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
