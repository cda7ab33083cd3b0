/**
 * Finds the client of an event: its address, its headers, and what an edge platform knows about it. While the server renders a page, the
 * page sends requests to the same server. These requests have the client of the page's request.
 */
import { resolveClientAddress } from '../core/request/ip-address'
import { platformOf, type HttpEvent } from './platform'

/** The parts of an event that tell who the client is. */
export type ClientEvent = Pick<HttpEvent, 'context' | 'headers' | 'node' | 'req'>

/** The client's place, as an edge platform found it. */
export interface EdgeFields {
  readonly country?: string
  readonly city?: string
  readonly region?: string
  readonly timezone?: string
}

/** Stores the event for requests that its page sends. Runs for every request of the app, before any handler. */
export function rememberEvent(event: ClientEvent): void {
  platformOf(event).remember(event)
}

/** The preset that Nitro builds the server for. Nitro replaces `import.meta.preset` at build time. */
const PRESET = import.meta.preset ?? ''

/**
 * @param trustProxy the number of the app's own proxies; `true` is one
 * @param preset the preset of Nitro
 */
export function clientAddressOf(event: object, trustProxy: boolean | number, preset = PRESET): string | undefined {
  const client = outermost(event as ClientEvent)
  const platform = platformOf(client)
  return resolveClientAddress({
    connection: platform.address(client),
    forwardedFor: platform.header(client, 'x-forwarded-for'),
    edge: edgeOf(client, preset)?.address,
  }, trustProxy)
}

/** Returns the event of the client's own request: of the page, if a page sends the request while the server renders it. */
export function clientEventOf(event: object): ClientEvent {
  return outermost(event as ClientEvent)
}

/** @param preset the preset of Nitro */
export function edgeFieldsOf(event: object, preset = PRESET): EdgeFields {
  const place = edgeOf(outermost(event as ClientEvent), preset)?.place as Readonly<Record<string, unknown>> | undefined
  return Object.fromEntries(EDGE_FIELDS.flatMap((name) => {
    const value = place?.[name]
    return typeof value === 'string' && value !== '' && value.length <= MAX_EDGE_FIELD ? [[name, value]] : []
  }))
}

const EDGE_FIELDS = ['country', 'city', 'region', 'timezone'] as const
const MAX_EDGE_FIELD = 100

interface Edge {
  readonly address?: string
  readonly place?: unknown
}

/** What each edge platform knows about the client, by the start of the names of its presets. */
const EDGES: Readonly<Record<string, (event: ClientEvent) => Edge | undefined>> = {
  cloudflare(event) {
    const found = platformOf(event).cloudflare(event)
    return found && { address: event.headers.get('cf-connecting-ip') ?? undefined, place: found.cf }
  },
}

/**
 * An edge platform counts only in a server that is built for it, and if its object is on the event. On any other server, a client can send
 * the headers of the platform itself.
 */
function edgeOf(event: ClientEvent, preset: string): Edge | undefined {
  const name = Object.keys(EDGES).find(name => preset.startsWith(name))
  return name === undefined ? undefined : EDGES[name]!(event)
}

function outermost(event: ClientEvent): ClientEvent {
  const outer = platformOf(event).pageEvent(event) as ClientEvent | undefined
  return outer && outer !== event ? outermost(outer) : event
}
