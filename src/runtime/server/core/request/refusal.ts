/** Tells errors that refuse a write from those that leave open whether it was committed. */
import { BusyError } from '../../engines/engine'
import { ApiError, isHttpError } from '../error'

/**
 * Whether the error says that nothing was committed: the API or the app refused the write, or other writes kept it waiting. After any other
 * error, such as a broken connection, the commit can have succeeded.
 */
export function isRefusal(error: unknown): boolean {
  if (error instanceof BusyError) return true
  if (!(error instanceof ApiError) && !isHttpError(error)) return false
  const { status, statusCode = status } = error as { readonly status?: number, readonly statusCode?: number }
  return Number(statusCode) < 500
}
