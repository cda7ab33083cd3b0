/** Keeps the app from reading the body of an upload at once. */
import { JSON_TYPE, mediaTypeOf } from '../core/request/media-type'
import { platformOf, type HttpEvent } from './platform'

/**
 * Marks a request to the API so that its body is only read as it arrives. It leaves out short JSON bodies, which the app can then read in
 * its middleware.
 * @param prefix the start of the paths of the API
 * @param limit the maximum size of a JSON body in bytes
 */
export function keepUnbuffered(event: HttpEvent, prefix: string, limit: number): void {
  const platform = platformOf(event)
  if (!platform.keepUnbuffered || event.method === 'GET' || event.method === 'HEAD' || !event.path.startsWith(`${prefix}/`)) return
  const length = event.headers.get('content-length')
  const isShort = length !== null && Number(length) <= limit
  if (isShort && mediaTypeOf(event.headers.get('content-type') ?? undefined) === JSON_TYPE) return
  platform.keepUnbuffered(event)
}
