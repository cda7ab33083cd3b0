/** The URL of a request as the client sent it, taken apart. */
import type { ApiRequest } from '../core/context'
import { decode } from '../schema/record-id'

/** The parts of an event, of either version of h3, that hold its URL. */
export interface EventWithUrl {
  /** Decoded by h3. */
  readonly path: string
  readonly node?: { readonly req?: object }
  readonly req?: object
}

export interface SentUrl {
  readonly path: string
  /** With its `?`; empty without one. */
  readonly query: string
}

/**
 * The URL as the client sent it, the app's base URL included. `event.path` is no substitute: h3 decodes it, and an id
 * that holds an encoded `?` would turn into a query, one that holds an encoded `,` into a composite key.
 */
export function sentUrl(event: EventWithUrl): SentUrl {
  const { node, req } = event as { node?: { req?: { originalUrl?: string } }, req?: { url?: string } }
  const url = node?.req?.originalUrl ?? req?.url?.replace(/^[a-z]+:\/\/[^/?]*/i, '') ?? event.path
  const start = url.indexOf('?')
  return start === -1 ? { path: url, query: '' } : { path: url.slice(0, start), query: url.slice(start) }
}

/** The segments below the prefix: the resource's name, then the others, still encoded. */
export function segmentsBelow(prefix: string, event: EventWithUrl, { path, query }: SentUrl): string[] {
  // The client can encode base URL and prefix in any way. The number of segments after them is the same in both paths.
  const decoded = event.path.slice(prefix.length, event.path.length - query.length)
  const depth = split(decoded).length
  const [resource, ...rest] = depth === 0 ? [] : split(path).slice(-depth)
  return resource === undefined ? [] : [decode(resource) ?? resource, ...rest]
}

const split = (path: string) => path.split('/').filter(segment => segment !== '')

/** @param text with its `?` */
export function parseQuery(text: string): ApiRequest['query'] {
  const query: Record<string, string | string[]> = Object.create(null)
  if (text === '') return query
  for (const [name, value] of new URLSearchParams(text)) {
    const known = query[name]
    query[name] = known === undefined ? value : Array.isArray(known) ? [...known, value] : [known, value]
  }
  return query
}
