/**
 * h3 1 with Nitro 2, which Nuxt 4 uses. On workers, objects stand in for Node's request and response.
 *
 * On Node, h3 1 ignores the backpressure of streams, and does not end them when the client leaves. So they are written to Node's response.
 */
import { createAttached } from '../../core/process/request-scoped'
import { findNodeResponse, onClose, type Connection } from './connection'
import type { NodeResponse, Platform } from './contract'

interface Event {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  /** The copy of the headers, after something has read `event.headers`. */
  readonly _headers?: unknown
  readonly _requestBody?: unknown
  readonly web?: { readonly request?: { readonly body?: unknown } }
  readonly node?: { readonly req?: IncomingRequest, readonly res?: OutgoingResponse }
  readonly context: {
    readonly cf?: unknown
    readonly cloudflare?: { readonly env?: object, readonly request?: Request & { readonly cf?: unknown } }
    readonly matchedRoute?: { readonly path?: string, readonly handlers?: { readonly get?: (event: object) => unknown } }
    readonly waitUntil?: (work: Promise<unknown>) => unknown
  }
  readonly captureError?: (error: Error, context: object) => void
  /** Nitro's fetch, which sends the headers of the event. */
  readonly fetch?: (path: string, init: FetchInit) => Promise<Response>
}

interface FetchInit {
  readonly context: object
  readonly headers: Readonly<Record<string, string>>
  readonly method?: string
  readonly body?: string
}

interface IncomingRequest {
  readonly originalUrl?: string
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>
  readonly socket?: Connection
  readonly readableEnded?: boolean
  readonly rawBody?: unknown
  readonly body?: unknown
  /** The context of the page's event. Only a request that the server sends to itself has it. */
  readonly __unenv__?: object
  readonly [RAW_BODY]?: unknown
}

interface OutgoingResponse extends NodeResponse {
  statusCode: number
  statusMessage: string
  readonly getHeader: (name: string) => string | number | string[] | undefined
  readonly getHeaders?: () => Readonly<Record<string, unknown>>
  setHeader: (name: string, value: string | string[]) => unknown
}

/** The property in which h3 stores a body that was read, so that another handler can read it again. */
const RAW_BODY = Symbol.for('h3RawBody')

const events = createAttached<object>('event')

export const h3v1: Platform<Event> = {
  header(event, name) {
    const { node, _headers } = event
    const sent = node?.req?.headers
    // `event.headers` copies all headers, which takes longer than the rest of a small request. The app can have changed a copy that exists.
    // A request that the server sends to itself keeps the names as they are written.
    if (!sent || _headers || '__unenv__' in node!.req!) return event.headers.get(name) ?? undefined
    const value = sent[name.toLowerCase()]
    if (Array.isArray(value)) return value.join(', ')
    return typeof value === 'string' && value !== '' ? trimSpace(value) : undefined
  },
  url: ({ node, path }) => node?.req?.originalUrl ?? path,
  body(event) {
    const ofDelete = bodyOfDelete(event)
    if (ofDelete) return ofDelete
    const { node, web, _requestBody } = event
    const request = node?.req
    const buffered = _requestBody || web?.request?.body || request?.[RAW_BODY] || request?.rawBody || request?.body
    if (buffered || !request) return buffered
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers ?? {}
    const hasBody = Number(length) > 0 || /\bchunked\b/i.test(String(encoding ?? ''))
    return hasBody && !request.readableEnded ? request : undefined
  },
  shareBody({ node }, body, reading) {
    if (body !== undefined && body === node?.req) Object.assign(body as object, { [RAW_BODY]: reading })
  },
  address: ({ node }) => node?.req?.socket?.remoteAddress,
  remember: event => events.set(event.context, event),
  pageEvent: ({ node, context }) => events.get(node?.req?.__unenv__ ?? context),
  // The event of a task can have no context.
  cloudflare: ({ context: { cloudflare, cf } = {} }) => cloudflare && { env: cloudflare.env, cf: cf ?? cloudflare.request?.cf },
  matchedRoute({ context: { matchedRoute } }) {
    return { pattern: matchedRoute?.path, get: matchedRoute?.handlers?.get }
  },
  signal(event) {
    const response = nodeResponse(event)
    const known: unknown = event.context.cloudflare?.request?.signal
    if (!response && known instanceof AbortSignal) return known
    const controller = new AbortController()
    if (!response) return controller.signal
    if (response.destroyed) controller.abort()
    onClose(response, event.node!, () => {
      if (!response.writableFinished) controller.abort()
    })
    return controller.signal
  },
  waitUntil({ context: { waitUntil } }, work) {
    waitUntil?.(work)
  },
  sendAgain: (event, headers, { url = h3v1.url(event), method = 'GET', body } = {}) =>
    event.fetch?.(url, { context: {}, headers, method, ...body !== undefined && { body } }),

  getHeader: ({ node }, name) => node!.res!.getHeader(name),
  setHeader: ({ node }, name, value) => void node!.res!.setHeader(name, value),
  addCookie({ node }, cookie) {
    const response = node!.res!
    response.setHeader('set-cookie', [response.getHeader('set-cookie') ?? [], cookie].flat().map(String))
  },
  headers: ({ node }) => Object.entries(node?.res?.getHeaders?.() ?? {}),
  setStatus({ node }, status, text) {
    if (status >= 100 && status <= 999) node!.res!.statusCode = status
    if (text) node!.res!.statusMessage = text
  },
  nodeResponse,
  // h3 passes the body to the server, and not every platform drops it there.
  dropsBodyOfHead: false,
  // Nitro replaces it with `no-cache` while it renders the error.
  keepCacheControl({ node }) {
    const response = node?.res
    const set = response?.setHeader
    if (!response || !set) return
    const isSetByNitro = (name: string, value: unknown) => name.toLowerCase() === 'cache-control' && value === 'no-cache'
    response.setHeader = (name, value) => isSetByNitro(name, value) ? response : set.call(response, name, value)
  },
  captureError: (event, error) => event.captureError?.(error, { tags: ['request'] }),
  sendError({ node }, { status, statusText, headers, text }) {
    const response = node!.res!
    headers.forEach((value, name) => response.setHeader(name, value))
    response.statusCode = status
    if (statusText) response.statusMessage = statusText
    response.end(text)
    return undefined
  },

  endsProcess: true,
}

function nodeResponse({ node }: Event): NodeResponse | undefined {
  return node && findNodeResponse(node)
}

/**
 * On Cloudflare, Nitro reads the body of a POST, PUT or PATCH before it creates the event. It does not read the body of a DELETE: that
 * body stays in Cloudflare's request, and waiting for it on the event would never end.
 */
function bodyOfDelete({ method, context }: Event): ReadableStream | undefined {
  const request = context.cloudflare?.request
  return method === 'DELETE' && request?.method === 'DELETE' && !request.bodyUsed ? request.body ?? undefined : undefined
}

/** Node joins the lines of a header with `, `, even if the last one is empty. A pattern would be slow for a header full of spaces. */
function trimSpace(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

const isSpace = (code: number) => code === 0x20 || code === 0x09
