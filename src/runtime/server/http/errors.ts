/** Converts errors to HTTP errors. Errors of the API keep their code, HTTP errors of the app stay unchanged, other errors become 500. */
import { ApiError, busy, isHttpError } from '../core/error'
import { STATUS_TEXT } from '../../shared/error-codes'
import { describeError, logPrefix, printable } from '../core/process/log'
import { BusyError } from '../engines/engine'
import { withCause, withoutStack } from './development'
import { addCacheHeaders } from './headers'
import { platformOf, type HttpEvent } from './platform'
import { readHttpError } from './platform/http-error'
import { closeAfterRefusal } from './refused-body'
import { sentUrl } from './url'

/** The argument of `createError` of h3. */
export interface HttpErrorInput {
  readonly status: number
  readonly statusText?: string
  readonly message: string
  readonly data?: object
}

/** The statuses of a refused body: too large, or of another media type. */
const BODY_REFUSED: ReadonlySet<number | undefined> = new Set([413, 415])

/** @param createError `createError` of h3 */
export function toHttpError(event: HttpEvent, error: unknown, createError: (input: HttpErrorInput) => Error): Error {
  if (error instanceof BusyError) return toHttpError(event, busy(), createError)
  if (error instanceof ApiError) {
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

/** Sets the headers of the response to an error. */
export function setErrorHeaders(event: HttpEvent, thrown: unknown): void {
  const error = thrown instanceof BusyError ? busy() : thrown
  const platform = platformOf(event)
  const { status } = readHttpError(error)
  addCacheHeaders(event, platform)
  if (status === 404) platform.keepCacheControl?.(event)
  closeAfterRefusal(event, BODY_REFUSED.has(status))
  if (error instanceof ApiError) for (const [name, value] of Object.entries(error.headers)) platform.setHeader(event, name, value)
}

/** Logs an error whose cause the client does not receive. */
export function logFailure(event: HttpEvent, error: unknown): void {
  console.error(logPrefix(event), printable(event.method), printable(sentUrl(event).path), describeError(error))
}

/** Whether the API threw the error. Server utils convert such errors, so that a plain event handler responds with their status and code. */
export function isApiError(error: unknown): boolean {
  return error instanceof ApiError || error instanceof BusyError
}

/** Whether an HTTP error of the app has a 4xx status. */
function isClientError(error: object): boolean {
  const { status } = readHttpError(error)
  return status !== undefined && status < 500
}
