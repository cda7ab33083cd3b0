/**
 * Finds the client of an event: its address, its headers, and what an edge platform knows about it. While the server renders a page, the
 * page sends requests to the same server. These requests have the client of the page's request.
 */
import { resolveClientAddress } from '../core/request/ip-address'
import { createAttached } from '../core/process/request-scoped'
import { headerOf, webRequestOf } from './web-request'

/** The parts of an event, of either version of h3, that hold the address. */
export interface ClientEvent {
  readonly context: object
  readonly headers: Headers
  /** h3 1. A request that the server sends to itself has no connection. `__unenv__` is the context of the original event. */
  readonly node?: { readonly req?: { readonly socket?: { readonly remoteAddress?: string }, readonly __unenv__?: object } }
  /** h3 2. */
  readonly req?: { readonly ip?: string, readonly runtime?: { readonly cloudflare?: unknown }, readonly cf?: unknown }
}

/** The client's place, as an edge platform found it. */
export interface EdgeFields {
  readonly country?: string
  readonly city?: string
  readonly region?: string
  readonly timezone?: string
}

/** Each event by its context. An event of h3 2 without a connection has the event of the page instead. */
const events = createAttached<ClientEvent>('event')

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
  const { context } = event
  const request = webRequestOf(event)
  if (!request) events.set(context, event)
  else if (request.ip !== undefined || request.runtime?.cloudflare) pageEvents?.enterWith(event)
  else events.set(context, pageEvents?.getStore() ?? event)
}

/** The preset that Nitro builds the server for. Nitro replaces `import.meta.preset` at build time. */
const PRESET = import.meta.preset ?? ''

/**
 * @param trustProxy the number of the app's own proxies; `true` is one
 * @param preset the preset of Nitro
 */
export function clientAddressOf(event: object, trustProxy: boolean | number, preset = PRESET): string | undefined {
  const client = outermost(event as ClientEvent)
  const { node, req } = client
  return resolveClientAddress({
    connection: node?.req?.socket?.remoteAddress ?? req?.ip,
    forwardedFor: headerOf(client, 'x-forwarded-for'),
    edge: platformOf(client, preset)?.address,
  }, trustProxy)
}

/** Returns the event of the client's own request: of the page, if a page sends the request while the server renders it. */
export function clientEventOf(event: object): ClientEvent {
  return outermost(event as ClientEvent)
}

/** @param preset the preset of Nitro */
export function edgeFieldsOf(event: object, preset = PRESET): EdgeFields {
  const place = platformOf(outermost(event as ClientEvent), preset)?.place as Readonly<Record<string, unknown>> | undefined
  return Object.fromEntries(EDGE_FIELDS.flatMap((name) => {
    const value = place?.[name]
    return typeof value === 'string' && value !== '' && value.length <= MAX_EDGE_FIELD ? [[name, value]] : []
  }))
}

const EDGE_FIELDS = ['country', 'city', 'region', 'timezone'] as const
const MAX_EDGE_FIELD = 100

interface Platform {
  readonly address?: string
  readonly place?: unknown
}

/** What each edge platform knows about the client, by the start of the names of its presets. */
const PLATFORMS: Readonly<Record<string, (event: ClientEvent) => Platform | undefined>> = {
  cloudflare({ context, headers, req }) {
    const { cloudflare, cf } = context as { readonly cloudflare?: { readonly request?: { readonly cf?: unknown } }, readonly cf?: unknown }
    if (!cloudflare && !req?.runtime?.cloudflare) return undefined
    return { address: headers.get('cf-connecting-ip') ?? undefined, place: cf ?? cloudflare?.request?.cf ?? req?.cf }
  },
}

/**
 * A platform counts only in a server that is built for it, and if its object is on the event. On any other server, a client can send the
 * headers of the platform itself.
 */
function platformOf(event: ClientEvent, preset: string): Platform | undefined {
  const name = Object.keys(PLATFORMS).find(name => preset.startsWith(name))
  return name === undefined ? undefined : PLATFORMS[name]!(event)
}

function outermost(event: ClientEvent): ClientEvent {
  const outer = events.get(event.node?.req?.__unenv__ ?? event.context)
  return outer && outer !== event ? outermost(outer) : event
}
