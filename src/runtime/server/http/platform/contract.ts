/** What the HTTP layer needs of a server, and each version of h3, Nitro and Nuxt does in its own way. */

/** The parts of an event that every version has. What `req` and `res` are, only a platform knows. */
export interface HttpEvent {
  readonly method: string
  /** Decoded, and without the base URL if h3 removes it. */
  readonly path: string
  readonly headers: Headers
  readonly context: object
  /** Node's request and response, or objects that stand in for them. Absent if the server has no such objects. */
  readonly node?: { readonly req?: object, readonly res?: unknown }
  readonly req?: object
  readonly res?: object
}

/** Node's response, as far as a stream needs it. */
export interface NodeResponse {
  readonly destroyed: boolean
  readonly writableFinished: boolean
  readonly socket: { readonly resetAndDestroy?: () => unknown } | null
  /** The bytes that wait for the client. */
  readonly writableLength: number
  readonly write: (chunk: Uint8Array | string) => boolean
  readonly end: (text?: string) => unknown
  readonly removeHeader: (name: string) => void
  readonly destroy: () => unknown
  readonly once: (name: 'close' | 'drain', listen: () => void) => unknown
  readonly off: (name: 'close' | 'drain', listen: () => void) => unknown
}

/** An error response. */
export interface ErrorResponse {
  readonly status: number
  readonly statusText?: string
  readonly headers: Headers
  readonly text: string
}

/** A request that a server sends to itself. */
export interface Instead {
  /** The path with the query string, as the client would send it. @default that of the event */
  readonly url?: string
  /** @default 'GET' */
  readonly method?: string
  readonly body?: string
}

/** The server of an event. Each function takes the event that it was chosen for. A function that can be absent has nothing to do there. */
export interface Platform<Event extends object = object> {
  /** Reads a header of the request, whatever the case of its name. */
  readonly header: (event: Event, name: string) => string | undefined
  /** Returns the path and the query string as the client sent them, with the app's base URL. */
  readonly url: (event: Event) => string
  /** Returns the body of the request: a stream, what the platform has read of it, or nothing. */
  readonly body: (event: Event) => unknown
  /** Lets handlers of the app read a body again. @param body the result of {@link body} @param reading resolves with its bytes */
  readonly shareBody?: (event: Event, body: unknown, reading: Promise<Uint8Array | undefined>) => void
  /** Keeps handlers of the app from reading the whole body at once. */
  readonly keepUnbuffered?: (event: Event) => void
  /** Returns the address at the other end of the connection. */
  readonly address: (event: Event) => string | undefined
  /** Stores the event, for {@link pageEvent}. Runs for every request of the app, before any handler. */
  readonly remember: (event: Event) => void
  /** Returns the event of the page that has sent this request while the server renders it. */
  readonly pageEvent: (event: Event) => object | undefined
  /** Returns what Cloudflare adds to a request: its bindings, and the client's place. */
  readonly cloudflare: (event: Event) => { readonly env?: object, readonly cf?: unknown } | undefined
  /** Returns the pattern of the matched route, and the app's own GET handler of it if the router says so. */
  readonly matchedRoute: (event: Event) => { readonly pattern?: string, readonly get?: (event: Event) => unknown }
  /** Returns a signal that aborts when the client leaves before it has the whole response. */
  readonly signal: (event: Event) => AbortSignal
  /** Keeps the request on platforms that drop it after the response. */
  readonly waitUntil: (event: Event, work: Promise<void>) => void
  /**
   * Sends the request of an event to this server again, in the process, with further headers. Middleware of the app then sees a new event.
   * Returns `undefined` if the server cannot send requests to itself.
   * @param headers an empty value leaves a header out
   * @param instead what differs from the request of the event
   */
  readonly sendAgain?: (event: Event, headers: Readonly<Record<string, string>>, instead?: Instead) => Promise<Response> | undefined

  readonly getHeader: (event: Event, name: string) => unknown
  readonly setHeader: (event: Event, name: string, value: string) => void
  /** Keeps the cookies that are set already. */
  readonly addCookie: (event: Event, cookie: string) => void
  /** Returns the headers that are set for the response. */
  readonly headers: (event: Event) => readonly (readonly [name: string, value: unknown])[]
  /** Ignores a number that is no status. */
  readonly setStatus: (event: Event, status: number, text?: string) => void
  /**
   * Returns Node's response if a stream has to be written to it. Otherwise the server reads a `ReadableStream` as fast as the client does,
   * and cancels it when the client leaves.
   */
  readonly nodeResponse: (event: Event) => NodeResponse | undefined
  /** Whether the server sends no body in response to HEAD, and sets the type that the body has. */
  readonly dropsBodyOfHead: boolean
  /** Keeps the header `Cache-Control` of a 404 that the server renders. */
  readonly keepCacheControl?: (event: Event) => void
  /** Reports an error of a request to the `error` hooks of the app. */
  readonly captureError?: (event: Event, error: Error) => void
  /** Responds in an error handler, with the headers that are set for the response. Returns what the error handler has to return. */
  readonly sendError: (event: Event, error: ErrorResponse) => Response | undefined

  /** Whether Nitro ends the process after the hooks `close`. */
  readonly endsProcess: boolean
}
