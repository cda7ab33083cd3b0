/**
 * Sends a streamed body. Each runtime needs its own way, so that a client that stops reading stops the producer, and a client that leaves
 * ends it:
 *
 * - h3 1 on Node: h3 ignores the backpressure of streams, so this file writes to Node's response itself.
 * - h3 2, and h3 1 elsewhere: the runtime reads a `ReadableStream` and cancels it.
 */
import { readChunks, type Chunks, type StreamedBody } from './chunks'
import { keepRunning } from '../core/process/in-flight'
import { webRequestOf } from './web-request'
import { createAttached } from '../core/process/request-scoped'

/** The parts of an event, of either version of h3, that hold its connection. */
export interface EventWithConnection {
  readonly context: object
  readonly node?: { readonly res?: object }
  readonly req?: object
}

/** Node's response, as far as this file uses it. */
interface NodeResponse {
  readonly destroyed: boolean
  readonly writableFinished: boolean
  readonly socket: { readonly resetAndDestroy?: () => unknown } | null
  write: (chunk: Uint8Array) => boolean
  end: () => unknown
  destroy: () => unknown
  once: (name: 'close' | 'drain', listen: () => void) => unknown
  off: (name: 'close' | 'drain', listen: () => void) => unknown
}

interface SendOptions {
  /** Sets the status and the headers of the response. */
  readonly setHead: () => void
  /** Reports an error after the first byte. The client only sees a connection that breaks. */
  readonly onError: (error: unknown) => void
}

/**
 * Returns what the handler of h3 returns for the response.
 * @throws An error of the producer before its first chunk. The response is an ordinary error response then.
 */
export async function sendStream(event: EventWithConnection, body: StreamedBody, { setHead, onError }: SendOptions): Promise<unknown> {
  const signal = signalOf(event)
  const chunks = readChunks(body, signal)
  const first = await chunks.next()
  if (signal.aborted) return null
  try {
    setHead()
  }
  catch (error) {
    // A header can have an invalid value.
    chunks.stop()
    throw error
  }
  const response = nodeResponse(event)
  if (!response) {
    keepAlive(event, chunks.ended)
    return toWebStream(first, chunks, signal, onError)
  }
  await sendToNode(response, first, chunks, signal, onError)
  // h3 sends nothing after `undefined`, because the response has been sent.
  return undefined
}

/**
 * Keeps the request until `ended`. Cloudflare drops a request whose client has left, and with it the `finally` blocks of the producer:
 * `waitUntil` prevents that. A Node server that stops waits too.
 */
export function keepAlive(event: EventWithConnection, ended: Promise<void>): void {
  void keepRunning(ended)
  const { waitUntil } = event.context as { readonly waitUntil?: (promise: Promise<unknown>) => unknown }
  const { waitUntil: ofRequest } = (event.req ?? {}) as { readonly waitUntil?: unknown }
  if (waitUntil) waitUntil(ended)
  else if (typeof ofRequest === 'function') ofRequest.call(event.req, ended)
}

const signals = createAttached<AbortSignal>('signal')

/** Returns a signal that aborts when the client leaves before it has the whole response. */
export function signalOf(event: EventWithConnection): AbortSignal {
  let signal = signals.get(event)
  if (!signal) signals.set(event, signal = createSignal(event))
  return signal
}

function createSignal(event: EventWithConnection): AbortSignal {
  const response = nodeResponse(event)
  const known = signalFrom(event.req) ?? signalFrom((event.context as { cloudflare?: { request?: object } }).cloudflare?.request)
  if (!response && known) return known
  const controller = new AbortController()
  if (response?.destroyed) controller.abort()
  response?.once('close', () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}

function signalFrom(request: object | undefined): AbortSignal | undefined {
  const { signal } = (request ?? {}) as { readonly signal?: unknown }
  return signal instanceof AbortSignal ? signal : undefined
}

/** Returns Node's response under h3 1. A stand-in for it, as on workers, has no connection. */
export function nodeResponse(event: EventWithConnection): NodeResponse | undefined {
  if (webRequestOf(event)) return undefined
  const response = event.node?.res as NodeResponse | undefined
  return response && (response.socket || response.destroyed) ? response : undefined
}

async function sendToNode(
  response: NodeResponse, first: Uint8Array | undefined, chunks: Chunks, signal: AbortSignal, onError: (error: unknown) => void,
): Promise<void> {
  try {
    for (let chunk = first; chunk && !signal.aborted; chunk = await chunks.next()) {
      if (!response.write(chunk)) await untilWritable(response)
    }
    if (!signal.aborted) response.end()
  }
  catch (error) {
    onError(error)
    breakConnection(response)
  }
}

function untilWritable(response: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.once('drain', done)
    response.once('close', done)
    if (response.destroyed) done()
  })
}

/** Resets the connection, because a regular end looks complete to an HTTP/1.0 client, such as a proxy. TLS sockets cannot be reset. */
function breakConnection(response: NodeResponse): void {
  try {
    response.socket?.resetAndDestroy?.()
  }
  catch {
    // The next line ends the connection.
  }
  response.destroy()
}

function toWebStream(
  first: Uint8Array | undefined, chunks: Chunks, signal: AbortSignal, onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  let pending = first
  let cancelled = false
  const takeFirst = () => {
    const chunk = pending
    pending = undefined
    return chunk
  }
  return new ReadableStream({
    async pull(controller) {
      try {
        const chunk = takeFirst() ?? await chunks.next()
        if (cancelled) return
        if (chunk) controller.enqueue(chunk)
        else if (signal.aborted) controller.error(signal.reason)
        else controller.close()
      }
      catch (error) {
        onError(error)
        controller.error(error)
      }
    },
    cancel() {
      cancelled = true
      chunks.stop()
    },
  }, { highWaterMark: 0 })
}
