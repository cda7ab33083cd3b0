/** Tells errors with which a database refuses a statement from those after which nobody knows whether it has committed. */
import type { Dialect } from '../../shared/dialects'
import { BusyError, ExpectationError, InvalidValueError, TooComplexError } from './engine'
import { findCause, findViolation, toQueryError, type DriverError } from './violation'

/** Classes of SQLSTATE: data, constraints, syntax and access, checks of views, limits, unsupported, and errors that code raises. */
const STATE = /^(?:0A|21|22|23|42|44|45|54|P0|HV)/
/** Codes of SQLite. D1 writes them into the message. */
const SQLITE = /\bSQLITE_(?:CONSTRAINT|ERROR|MISMATCH|TOOBIG|RANGE|AUTH|READONLY)/

const REFUSALS: Readonly<Record<Dialect, (error: DriverError) => boolean>> = {
  sqlite: ({ code, message }) => SQLITE.test(String(code)) || SQLITE.test(String(message)),
  pg: ({ code }) => STATE.test(String(code)),
  mysql: ({ sqlState }) => STATE.test(String(sqlState)),
}

/** A driver cannot encode a value, and has sent nothing. `fetch` throws such an error with a cause if the connection is lost. */
const isOfDriver = (error: DriverError) => (error instanceof TypeError || error instanceof RangeError) && error.cause === undefined

/**
 * Whether a commit that failed with this error has changed nothing. After any other error, such as a lost connection, it can have taken
 * effect: the rows say nothing about the request then.
 */
export function isRefusal(dialect: Dialect, error: unknown): boolean {
  if (error instanceof ExpectationError || error instanceof BusyError) return true
  if (error instanceof InvalidValueError || error instanceof TooComplexError) return true
  if (findViolation(dialect, error) || toQueryError(dialect, error) !== error) return true
  return findCause(error, found => REFUSALS[dialect](found) || isOfDriver(found) || undefined) === true
}
