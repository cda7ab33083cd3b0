/** h3 2 with Nitro 3, which Nuxt 5 uses. The request is a web request, with a connection of Node or without. */
import { LOADED } from '../../core/process/node-modules'
import { createAttached } from '../../core/process/request-scoped'
import type { Awaitable } from '../../core/awaitable'
import type { Platform } from './contract'

interface Event {
  readonly path: string
  readonly node?: {
    readonly req?: { readonly originalUrl?: string, readonly socket?: { readonly remoteAddress?: string } }
  }
  readonly req: {
    readonly url: string
    readonly headers: Headers
    readonly body?: unknown
    readonly signal?: unknown
    readonly ip?: string
    readonly cf?: unknown
    readonly runtime?: { readonly cloudflare?: { readonly env?: object } }
    readonly waitUntil?: (work: Promise<unknown>) => unknown
  }
  /** The app of h3 with the middleware of Nitro. */
  readonly app?: { readonly fetch?: (request: Request) => Awaitable<Response> }
  readonly res: { readonly headers: Headers, status?: number, statusText?: string }
  readonly context: {
    readonly matchedRoute?: { readonly route?: string }
    readonly waitUntil?: (work: Promise<unknown>) => unknown
  }
}

/** The key that a request has in Nuxt 5 if its body is kept already. */
const KEPT = Symbol.for('nuxt.bufferedRequestBody')

/** Headers of the body that the response would have had without its error. */
const OF_BODY: ReadonlySet<string> = new Set(['content-type', 'content-length', 'content-encoding', 'content-range', 'etag'])

/** Each event by its context. An event without a connection has the event of the page instead. */
const events = createAttached<object>('event')

/** A request of a page has no reference to the page's request. Only the async context connects them; without it, there is no address. */
const pageEvents = LOADED.AsyncLocalStorage && new LOADED.AsyncLocalStorage<object>()

export const h3v2: Platform<Event> = {
  header: ({ req }, name) => req.headers.get(name) ?? undefined,
  url: ({ node, req }) => node?.req?.originalUrl ?? req.url.replace(/^[a-z]+:\/\/[^/?]*/i, ''),
  body: ({ req }) => req.body,
  // The handlers and middleware of the app replace the request by one that keeps its body for further readers: it reads the whole body,
  // without a limit.
  keepUnbuffered: ({ req }) => void Object.defineProperty(req, KEPT, { value: true }),
  address: ({ node, req }) => node?.req?.socket?.remoteAddress ?? req.ip,
  remember(event) {
    const { req, context } = event
    if (req.ip !== undefined || req.runtime?.cloudflare) pageEvents?.enterWith(event)
    else events.set(context, pageEvents?.getStore() ?? event)
  },
  pageEvent: ({ context }) => events.get(context),
  cloudflare: ({ req: { runtime, cf } }) => runtime?.cloudflare && { env: runtime.cloudflare.env, cf },
  matchedRoute: ({ context }) => ({ pattern: context.matchedRoute?.route }),
  signal: ({ req: { signal } }) => signal instanceof AbortSignal ? signal : new AbortController().signal,
  waitUntil({ req, context: { waitUntil } }, work) {
    if (waitUntil) waitUntil(work)
    else req.waitUntil?.(work)
  },
  sendAgain({ app, req: { url, headers: sent, ip } }, headers) {
    if (!app?.fetch) return undefined
    const request = new Request(url, { headers: [...sent, ...Object.entries(headers)] })
    // The client's address is no part of a web request.
    return Promise.resolve(app.fetch(Object.defineProperty(request, 'ip', { value: ip })))
  },

  getHeader: ({ res }, name) => res.headers.get(name) || undefined,
  setHeader: ({ res }, name, value) => res.headers.set(name, value),
  addCookie: ({ res }, cookie) => res.headers.append('set-cookie', cookie),
  headers: ({ res }) => [...res.headers],
  setStatus({ res }, status, text) {
    if (Number.isInteger(status) && status >= 100 && status <= 599) res.status = status
    if (text) res.statusText = text
  },
  nodeResponse: () => undefined,
  dropsBodyOfHead: true,
  // h3 does not add the headers of the response to that of an error.
  sendError({ res }, { status, statusText, headers, text }) {
    res.headers.forEach((value, name) => {
      if (name === 'set-cookie') headers.append(name, value)
      else if (!OF_BODY.has(name)) headers.set(name, value)
    })
    return new Response(text, { status, statusText, headers })
  },

  endsProcess: false,
}
