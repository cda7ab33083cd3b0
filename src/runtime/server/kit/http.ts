/** What plugins need of HTTP: entity tags, work after the response, the URL as it was sent. */
import { createToHttpError, type HttpErrorInput } from '../http/errors'

export type { ApiEvent } from '../http'
export { runAfterResponse } from '../http/after-response'
export { isNoneMatch, tagBody, tagInTurns } from '../http/etag'
export { isPlain } from '../http/headers'
export { type EventWithUrl, sentUrl } from '../http/url'

/** What a client may know about an error. */
export interface ClientError {
  readonly status: number
  readonly message: string
  readonly data?: object
}

/** Creates the error of h3, without h3: only the parts of it that a client receives. */
const toHttpError = createToHttpError<never>(
  ({ status, message, data }: HttpErrorInput) => Object.assign(new Error(message), { status, data }),
  { get: () => undefined, set: () => {} },
)

/** Converts an error to what a client may know of it. An error that is not meant for clients is logged, and becomes a 500. */
export function toClientError(error: unknown, event: unknown): ClientError {
  // h3 1 and h3 2 name the status differently.
  const httpError = toHttpError(event as never, error) as Error & Partial<ClientError & { statusCode: number }>
  const { status, statusCode = 500, message, data } = httpError
  return { status: status ?? statusCode, message, data }
}
