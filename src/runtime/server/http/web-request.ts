/** Tells the events of h3 2 from those of h3 1, and reads the headers of both. */

/** Returns the web request of an event of h3 2. In h3 1, `event.req` is Node's request, which has its headers as a plain object. */
export function webRequestOf<T extends object>({ req }: { readonly req?: T }): T | undefined {
  const { headers } = (req ?? {}) as { readonly headers?: { readonly get?: unknown } }
  return typeof headers?.get === 'function' ? req : undefined
}

/** The parts of an event, of either version of h3, that hold the headers of its request. */
export interface EventWithHeaders {
  readonly headers: { readonly get: (name: string) => string | null }
  readonly node?: { readonly req?: object }
}

interface NodeEvent {
  readonly req?: object
  /** The headers of h3 1, after something has read `event.headers`. */
  readonly _headers?: unknown
  readonly node?: { readonly req?: { readonly headers?: Readonly<Record<string, unknown>>, readonly __unenv__?: unknown } }
}

/**
 * Reads a header of the request. In h3 1, `event.headers` copies all headers, which takes longer than the rest of a small request: a header
 * is read from Node's request instead, unless something has made the copy, which the app can have changed.
 */
export function headerOf(event: EventWithHeaders, name: string): string | undefined {
  const { node, _headers } = event as NodeEvent
  const sent = node?.req?.headers
  // A request that the server sends to itself keeps the names as they are written.
  if (!sent || _headers || '__unenv__' in node.req! || webRequestOf(event as NodeEvent)) return event.headers.get(name) ?? undefined
  const value = sent[name.toLowerCase()]
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' && value !== '' ? trimSpace(value) : undefined
}

/** Node joins the lines of a header with `, `, even if the last one is empty. A pattern would be slow for a header full of spaces. */
function trimSpace(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

const isSpace = (code: number) => code === 0x20 || code === 0x09
