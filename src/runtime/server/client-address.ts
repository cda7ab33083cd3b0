/** Where an event comes from. A page that asks its own server while it is rendered asks for its visitor. */
import { resolveClientAddress } from './core/access/ip-address'

/** What both versions of h3 have of an event, or one of them has. */
export interface ClientEvent {
  readonly context: object
  readonly headers: Headers
  /** h3 1. A request of the server to itself has no connection; what it has is the context of the event it was made for. */
  readonly node?: { readonly req?: { readonly socket?: { readonly remoteAddress?: string }, readonly __unenv__?: object } }
  /** h3 2. */
  readonly req?: { readonly ip?: string, readonly runtime?: { readonly cloudflare?: unknown } }
}

const events = new WeakMap<object, ClientEvent>()

/** Called for every request of the app, before anything else sees it. */
export function rememberEvent(event: ClientEvent): void {
  events.set(event.context, event)
}

/** @param trustProxy how many proxies of the app's own stand before it */
export function clientAddressOf(asked: object, trustProxy: boolean | number): string | undefined {
  const { context, headers, node, req } = outermost(asked as ClientEvent)
  // Set by Nitro from what the platform handed over. Everywhere else the header is whatever the client makes of it.
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
