/** Converts errors to HTTP errors. Errors of the API keep their code, HTTP errors of the app stay unchanged, other errors become 500. */
import { ApiError, busy, isHttpError } from '../core/error'
import { STATUS_TEXT } from '../../shared/error-codes'
import { describeError, logPrefix, printable } from '../core/process/log'
import { BusyError } from '../engines/engine'
import { withCause, withoutStack } from './development'
import { addCacheHeaders, keepCacheControl, type HeaderAccess } from './headers'
import { closeAfterRefusal } from './refused-body'
import { sentUrl, type EventWithUrl } from './url'

/** The argument of `createError` in h3 1 and h3 2. */
export interface HttpErrorInput {
  readonly status: number
  readonly statusText?: string
  readonly message: string
  readonly data?: object
}

type ErrorEvent = EventWithUrl & { readonly method: string, readonly node?: { readonly req?: object, readonly res?: unknown } }

/** The statuses of a refused body: too large, or of another media type. */
const BODY_REFUSED: ReadonlySet<number | undefined> = new Set([413, 415])

/** @param createError `createError` of h3 */
export function createToHttpError<Event extends ErrorEvent>(
  createError: (input: HttpErrorInput) => Error,
  headers: HeaderAccess<Event> & { readonly set: (event: Event, name: string, value: string) => void },
): (event: Event, error: unknown) => Error {
  return function toHttpError(event, error) {
    if (error instanceof BusyError) return toHttpError(event, busy())
    addCacheHeaders(event, headers)
    if (statusOf(error) === 404) keepCacheControl(event)
    closeAfterRefusal(event, BODY_REFUSED.has(statusOf(error)))
    if (error instanceof ApiError) {
      for (const [name, value] of Object.entries(error.headers)) headers.set(event, name, value)
      const { status, message, data, cause } = error
      return withoutStack(createError({ status, statusText: STATUS_TEXT[status], message, data: withCause(data, cause) }))
    }
    if (isHttpError(error)) return isClientError(error) ? withoutStack(error) : error
    // In production, only the log contains the cause.
    logFailure(event, error)
    return createError({
      status: 500,
      statusText: 'Internal Server Error',
      message: 'Something went wrong.',
      data: withCause(undefined, error),
    })
  }
}

/** Logs an error whose cause the client does not receive. */
export function logFailure(event: ErrorEvent, error: unknown): void {
  console.error(logPrefix(event), printable(event.method), printable(sentUrl(event).path), describeError(error))
}

/** Whether the API threw the error. Server utils convert such errors, so that a plain event handler responds with their status and code. */
export function isApiError(error: unknown): boolean {
  return error instanceof ApiError || error instanceof BusyError
}

/** Whether an HTTP error of the app has a 4xx status. */
function isClientError(error: object): boolean {
  const status = statusOf(error)
  return status !== undefined && status < 500
}

function statusOf(error: unknown): number | undefined {
  return (error as { status?: number } | null)?.status ?? (error as { statusCode?: number } | null)?.statusCode
}
