/**
 * The client's address of an event. A page that is rendered sends requests to its own server: they have the address of the page's
 * request.
 */
import { resolveClientAddress } from './core/access/ip-address'

/** The parts of an event, of either version of h3, that hold the address. */
export interface ClientEvent {
  readonly context: object
  readonly headers: Headers
  /** h3 1. A request of the server to itself has no connection. It has the context of the event that it was sent for. */
  readonly node?: { readonly req?: { readonly socket?: { readonly remoteAddress?: string }, readonly __unenv__?: object } }
  /** h3 2. */
  readonly req?: { readonly ip?: string, readonly runtime?: { readonly cloudflare?: unknown } }
}

const events = new WeakMap<object, ClientEvent>()

/** Called for every request of the app, before any handler. */
export function rememberEvent(event: ClientEvent): void {
  events.set(event.context, event)
}

/** @param trustProxy the number of the app's own proxies in front of it */
export function clientAddressOf(event: object, trustProxy: boolean | number): string | undefined {
  const { context, headers, node, req } = outermost(event as ClientEvent)
  // Nitro sets this from the platform's own data. Everywhere else the client can set the header.
  const onEdge = (context as { cloudflare?: unknown }).cloudflare ?? req?.runtime?.cloudflare
  return resolveClientAddress({
    connection: node?.req?.socket?.remoteAddress ?? req?.ip,
    forwardedFor: headers.get('x-forwarded-for') ?? undefined,
    edge: onEdge ? headers.get('cf-connecting-ip') ?? undefined : undefined,
  }, trustProxy)
}

function outermost(event: ClientEvent): ClientEvent {
  const around = events.get(event.node?.req?.__unenv__ ?? event)
  return around && around !== event ? outermost(around) : event
}
