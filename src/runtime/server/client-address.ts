/**
 * Finds the client address of an event. While the server renders a page, the page sends requests to the same server. These requests have
 * the client address of the page's request.
 */
import { resolveClientAddress } from './core/access/ip-address'

/** The parts of an event, of either version of h3, that hold the address. */
export interface ClientEvent {
  readonly context: object
  readonly headers: Headers
  /** h3 1. A request that the server sends to itself has no connection. `__unenv__` is the context of the original event. */
  readonly node?: { readonly req?: { readonly socket?: { readonly remoteAddress?: string }, readonly __unenv__?: object } }
  /** h3 2. */
  readonly req?: { readonly ip?: string, readonly runtime?: { readonly cloudflare?: unknown } }
}

/** Each event by its context. An event of h3 2 without a connection has the event of the page instead. */
const events = new WeakMap<object, ClientEvent>()

interface AsyncStorage {
  readonly enterWith: (event: ClientEvent) => void
  readonly getStore: () => ClientEvent | undefined
}

/** In Nuxt 5, a request of a page has no reference to the page's request. Only the async context connects them. */
const pageEvents = createAsyncStorage()

function createAsyncStorage(): AsyncStorage | undefined {
  // Not imported, because a platform without it could not load the file. There, these requests have no client address.
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => object | undefined } }
  const { AsyncLocalStorage } = (process?.getBuiltinModule?.('node:async_hooks') ?? {}) as { AsyncLocalStorage?: new () => AsyncStorage }
  return AsyncLocalStorage && new AsyncLocalStorage()
}

/** Stores the event by its context. Runs for every request of the app, before any handler. */
export function rememberEvent(event: ClientEvent): void {
  const { context, req } = event
  if (!isWebRequest(req)) events.set(context, event)
  else if (req.ip !== undefined || req.runtime?.cloudflare) pageEvents?.enterWith(event)
  else events.set(context, pageEvents?.getStore() ?? event)
}

/** Whether a request is the web request of h3 2. The request of h3 1 is that of Node, with headers as a plain object. */
const isWebRequest = (req: object | undefined): req is NonNullable<ClientEvent['req']> =>
  typeof (req as { readonly headers?: { readonly get?: unknown } } | undefined)?.headers?.get === 'function'

/** @param trustProxy the number of the app's own proxies; `true` is one */
export function clientAddressOf(event: object, trustProxy: boolean | number): string | undefined {
  const { context, headers, node, req } = outermost(event as ClientEvent)
  // Nitro sets `cloudflare` from the platform's data. On other platforms the client can set the header `cf-connecting-ip` itself.
  const onEdge = (context as { cloudflare?: unknown }).cloudflare ?? req?.runtime?.cloudflare
  return resolveClientAddress({
    connection: node?.req?.socket?.remoteAddress ?? req?.ip,
    forwardedFor: headers.get('x-forwarded-for') ?? undefined,
    edge: onEdge ? headers.get('cf-connecting-ip') ?? undefined : undefined,
  }, trustProxy)
}

function outermost(event: ClientEvent): ClientEvent {
  const outer = events.get(event.node?.req?.__unenv__ ?? event.context)
  return outer && outer !== event ? outermost(outer) : event
}
