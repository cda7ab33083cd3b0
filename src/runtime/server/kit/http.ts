/** What plugins need of HTTP: errors as clients receive them, the base URL. */
import { toHttpError, type HttpErrorInput } from '../http/errors'
import type { HttpEvent } from '../http/platform'
import { readHttpError } from '../http/platform/http-error'
import { sentUrl, type EventWithPath } from '../http/url'
import { decode } from '../schema/record-id'

export type { ApiEvent } from '../http/platform/h3'
export { isPlain } from '../http/headers'

/** What a client may know about an error. */
export interface ClientError {
  readonly status: number
  readonly message: string
  readonly data?: object
}

/** Converts an error to what a client may know of it. An error that is not meant for clients is logged, and becomes a 500. */
export function toClientError(error: unknown, event: object): ClientError {
  const { status = 500, message, data } = readHttpError(toHttpError(event as HttpEvent, error, createError))
  return { status, message, data: data as object | undefined }
}

/** As that of h3, which plugins cannot import: only the parts that a client receives. */
const createError = ({ status, message, data }: HttpErrorInput) => Object.assign(new Error(message), { status, data })

/** Returns what precedes `path` in the URL of a request: the base URL of the app, as a proxy passes it on. */
export function basePathOf(event: unknown, path: string): string {
  const { path: url } = sentUrl(event as EventWithPath)
  // The client can encode every part of the path.
  const base = url.replace(/\/$/, '').split('/').slice(0, 1 - path.split('/').length).join('/')
  return decode(base) ?? base
}
