/** The headers that every response of the API has, and the headers of a response without its body. */
import { platformOf, type HttpEvent, type Platform } from './platform'

/** Responses depend on the caller, so a cache must not return them to another caller. Headers that the app sets are kept. */
const CACHE_CONTROL = 'private, no-cache'
const VARY = 'Cookie, Authorization, Accept'

/** Reads a header of the request, whatever the case of its name. */
export function headerOf(event: object, name: string): string | undefined {
  return platformOf(event).header(event, name)
}

/** Sets a header of the response. Keeps the cookies that are set already. Nitro's auto-imports have the name `setHeader`. */
export function applyHeader(event: HttpEvent, name: string, value: string): void {
  const platform = platformOf(event)
  if (name.toLowerCase() === 'set-cookie') platform.addCookie(event, value)
  else platform.setHeader(event, name, value)
}

/**
 * Adds the caching headers that are not set yet.
 * @param body the response body. If it is a web response, its own headers count as set.
 */
export function addCacheHeaders(event: HttpEvent, { getHeader, setHeader }: Platform, body?: unknown): void {
  const own = (body as { headers?: unknown } | null | undefined)?.headers
  const isSet = (name: string) => Boolean(getHeader(event, name)) || (own instanceof Headers && own.has(name))
  if (!isSet('cache-control')) setHeader(event, 'cache-control', CACHE_CONTROL)
  if (!isSet('vary')) setHeader(event, 'vary', VARY)
}

/** Returns the response to a HEAD request: no body, but the length and type of the GET response. h3 handles streams and web responses. */
export function withoutBody(event: HttpEvent, { getHeader, setHeader, dropsBodyOfHead }: Platform, body: unknown): unknown {
  const isText = typeof body === 'string'
  if (!isText && !isPlain(body)) return body
  const text = isText ? body : JSON.stringify(body)
  setHeader(event, 'content-length', String(new TextEncoder().encode(text).byteLength))
  if (dropsBodyOfHead) return body
  if (!getHeader(event, 'content-type')) setHeader(event, 'content-type', isText ? 'text/plain; charset=utf-8' : 'application/json')
  return ''
}

/** Whether `JSON.stringify` converts the value to the text that the response contains. */
export function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || prototype === Array.prototype
}
