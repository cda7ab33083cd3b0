/** Keeps Nuxt 5 from reading the body of an upload at once. */
import { JSON_TYPE, mediaTypeOf } from '../core/request/media-type'
import { webRequestOf } from './web-request'

interface Event {
  readonly method?: string
  readonly path: string
  readonly headers: Headers
  readonly req?: object
}

/** The key that a request has in Nuxt 5 if its body is kept already. */
const KEPT = Symbol.for('nuxt.bufferedRequestBody')

/**
 * In Nuxt 5, the handlers and middleware of the app replace the request by one that keeps its body for further readers: it reads the
 * whole body, without a limit. This function marks a request to the API so that its body is only read as it arrives. It leaves out short
 * JSON bodies, which the app can then read in its middleware.
 * @param prefix the start of the paths of the API
 * @param limit the maximum size of a JSON body in bytes
 */
export function keepUnbuffered(event: Event, prefix: string, limit: number): void {
  const request = webRequestOf(event)
  if (!request || event.method === 'GET' || event.method === 'HEAD' || !event.path.startsWith(`${prefix}/`)) return
  const length = event.headers.get('content-length')
  const isShort = length !== null && Number(length) <= limit
  if (isShort && mediaTypeOf(event.headers.get('content-type') ?? undefined) === JSON_TYPE) return
  Object.defineProperty(request, KEPT, { value: true })
}
