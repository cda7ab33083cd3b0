/** The caching headers of every response of the API, and the headers of a response without its body. */

/** Responses depend on the caller, so a cache must not return them to another caller. Headers that the app sets are kept. */
const CACHE_CONTROL = 'private, no-cache'
const VARY = 'Cookie, Authorization, Accept'

type Name = 'cache-control' | 'vary' | 'content-length' | 'content-type' | 'etag'

/** Reads and sets headers of a response, with h3 of either version. */
export interface HeaderAccess<Event> {
  readonly get: (event: Event, name: Name) => unknown
  readonly set: (event: Event, name: Name, value: string) => void
}

/**
 * Adds the caching headers that are not set yet.
 * @param body the response body. If it is a web response, its own headers count as set.
 */
export function addCacheHeaders<Event>(event: Event, { get, set }: HeaderAccess<Event>, body?: unknown): void {
  const own = (body as { headers?: unknown } | null | undefined)?.headers
  const isSet = (name: Name) => Boolean(get(event, name)) || (own instanceof Headers && own.has(name))
  if (!isSet('cache-control')) set(event, 'cache-control', CACHE_CONTROL)
  if (!isSet('vary')) set(event, 'vary', VARY)
}

interface NodeResponse {
  setHeader: (name: string, value: unknown) => unknown
}

/** Keeps the `Cache-Control` header of a 404. Nitro 2 replaces it with `no-cache` while it renders the error. */
export function keepCacheControl(event: { readonly node?: { readonly res?: unknown } }): void {
  const response = event.node?.res as NodeResponse | undefined
  const set = response?.setHeader
  if (!response || !set) return
  const isSetByNitro = (name: string, value: unknown) => name.toLowerCase() === 'cache-control' && value === 'no-cache'
  response.setHeader = (name, value) => isSetByNitro(name, value) ? response : set.call(response, name, value)
}

/** Returns the response to a HEAD request: no body, but the length and type of the GET response. h3 handles streams and web responses. */
export function withoutBody<Event>(event: Event, { get, set }: HeaderAccess<Event>, body: unknown): unknown {
  const isText = typeof body === 'string'
  if (!isText && !isPlain(body)) return body
  const text = isText ? body : JSON.stringify(body)
  set(event, 'content-length', String(new TextEncoder().encode(text).byteLength))
  // h3 2 drops the body itself and sets its type. h3 1 passes the body to the server, and not every platform drops it there.
  if ((event as { res?: { headers?: unknown } }).res?.headers instanceof Headers) return body
  if (!get(event, 'content-type')) set(event, 'content-type', isText ? 'text/plain; charset=utf-8' : 'application/json')
  return ''
}

/** Whether `JSON.stringify` converts the value to the text that the response contains. */
export function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || prototype === Array.prototype
}
