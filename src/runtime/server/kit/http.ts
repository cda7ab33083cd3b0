/** What plugins need of HTTP: work after the response, errors as clients receive them, the base URL. */
import { createToHttpError, type HttpErrorInput } from '../http/errors'
import { sentUrl, type EventWithUrl } from '../http/url'

export type { ApiEvent } from '../http/platform/h3'
export { isPlain } from '../http/headers'

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

/** Returns what precedes `path` in the URL of a request: the base URL of the app, as a proxy passes it on. */
export function basePathOf(event: unknown, path: string): string {
  const { path: url } = sentUrl(event as EventWithUrl)
  return url.endsWith(path) ? url.slice(0, -path.length) : ''
}
