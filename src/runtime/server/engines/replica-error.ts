/** Decides what an error of a replica says about the replica. */
import { InvalidValueError, TooComplexError } from './engine'
import { findErrno, findState } from './sql-state'

/** The time limit of a statement. The primary would run into it too. */
const STATEMENT_TIMEOUT = '57014'
/** The same on MariaDB and MySQL: `max_statement_time`, `max_execution_time`. */
const STATEMENT_TIMEOUTS: ReadonlySet<unknown> = new Set([1969, 3024])

/** Whether the primary could answer a query that failed on a replica. It could not if a value, the depth or the time of it is the cause. */
export function isReplicaError(error: unknown): boolean {
  if (error instanceof InvalidValueError || error instanceof TooComplexError) return false
  return findState(error) !== STATEMENT_TIMEOUT && !STATEMENT_TIMEOUTS.has(findErrno(error))
}

/** Whether the replica cannot be used: the connection failed, or the server is stopping, starting or full. */
export function isUnavailable(error: unknown): boolean {
  const state = findState(error)
  return state === undefined || /^(?:08|53|57P)/.test(state)
}
