/** Reads the URL of a request as the client sent it, and splits it into its parts. */
import type { ApiRequest } from '../core/request/api-request'
import { platformOf, type HttpEvent } from './platform'

/** The part of an event that is its URL. */
export type EventWithPath = Pick<HttpEvent, 'path'>

export interface SentUrl {
  readonly path: string
  /** The query string with its `?`. It is empty if the URL has no query string. */
  readonly query: string
  /** Whether the path of the event is the same text: h3 has decoded nothing, and has removed no base URL. */
  readonly isEventPath: boolean
}

/**
 * Returns the URL as the client sent it, with the app's base URL. `event.path` cannot replace it, because h3 decodes that path: an
 * encoded `?` in an id would start the query string, and an encoded `,` would separate the values of a composite key.
 */
export function sentUrl(event: EventWithPath): SentUrl {
  const url = platformOf(event).url(event)
  const start = url.indexOf('?')
  const isEventPath = url === event.path
  return start === -1 ? { path: url, query: '', isEventPath } : { path: url.slice(0, start), query: url.slice(start), isEventPath }
}

/**
 * Returns the segments below the prefix: first the resource's name, decoded, then the other segments, still encoded.
 *
 * The path of the event decides which segments there are and what the first one is, because middleware of the app and the router judge this
 * path. If this function decoded a name that they see encoded, or skipped an empty segment, a check of `event.path` would not see the
 * resource of the request.
 * @param prefix begins as the path of the event does: with the base URL, if h3 does not remove it
 */
export function segmentsBelow(prefix: string, event: EventWithPath, { path, query, isEventPath }: SentUrl): string[] {
  const judged = split(isEventPath ? path : event.path.slice(0, event.path.length - query.length), prefix.length)
  const [resource] = judged
  if (isEventPath || resource === undefined) return judged
  // The client can encode the base URL and the prefix in any way. The number of segments after them is the same in both paths.
  const sent = split(path).slice(-judged.length)
  sent[0] = resource
  return sent
}

/** Returns the segments as the router counts them: one slash at the end is ignored, and an empty segment is one. A loop, for speed. */
function split(path: string, start = 0): string[] {
  const segments: string[] = []
  let slash = path.indexOf('/', start)
  while (slash !== -1 && slash + 1 < path.length) {
    const next = path.indexOf('/', slash + 1)
    segments.push(path.slice(slash + 1, next === -1 ? path.length : next))
    slash = next
  }
  return segments
}

/** @param text the query string with its `?` */
export function parseQuery(text: string): ApiRequest['query'] {
  const query: Record<string, string | string[]> = Object.create(null)
  if (text === '') return query
  if (ENCODED.test(text)) for (const [name, value] of new URLSearchParams(text)) add(query, name, value)
  // Four times as fast, for text without encoding.
  else for (const pair of text.slice(1).split('&')) {
    if (pair === '') continue
    const end = pair.indexOf('=')
    if (end === -1) add(query, pair, '')
    else add(query, pair.slice(0, end), pair.slice(end + 1))
  }
  return query
}

const ENCODED = /[^\x21-\x24\x26-\x2A\x2C-\x7E]/

function add(query: Record<string, string | string[]>, name: string, value: string): void {
  const known = query[name]
  if (known === undefined) query[name] = value
  else if (typeof known === 'string') query[name] = [known, value]
  else known.push(value)
}
