/**
 * Sends a streamed body, so that a client that stops reading stops the producer, and a client that leaves ends it: writes to Node's
 * response, or returns a `ReadableStream`, as the platform needs it.
 */
import { readChunks, type Chunks, type StreamedBody } from './chunks'
import { keepRunning } from '../core/process/in-flight'
import { createAttached } from '../core/process/request-scoped'
import { platformOf, type HttpEvent, type NodeResponse } from './platform'

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
export async function sendStream(event: HttpEvent, body: StreamedBody, { setHead, onError }: SendOptions): Promise<unknown> {
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
  const response = platformOf(event).nodeResponse(event)
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
export function keepAlive(event: HttpEvent, ended: Promise<void>): void {
  void keepRunning(ended)
  platformOf(event).waitUntil(event, ended)
}

const signals = createAttached<AbortSignal>('signal')

/** Returns a signal that aborts when the client leaves before it has the whole response. */
export function signalOf(event: HttpEvent): AbortSignal {
  let signal = signals.get(event)
  if (!signal) signals.set(event, signal = platformOf(event).signal(event))
  return signal
}

async function sendToNode(
  response: NodeResponse, first: Uint8Array | undefined, chunks: Chunks, signal: AbortSignal, onError: (error: unknown) => void,
): Promise<void> {
  try {
    for (let chunk = first; chunk && !signal.aborted; chunk = await chunks.next()) {
      if (!response.write(chunk)) await untilWritable(response, signal)
    }
    if (!signal.aborted) response.end()
  }
  catch (error) {
    onError(error)
    breakConnection(response)
  }
}

function untilWritable(response: NodeResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done)
      response.off('close', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    response.once('drain', done)
    response.once('close', done)
    // A response that waits for its turn on the connection does not close.
    signal.addEventListener('abort', done)
    if (response.destroyed || signal.aborted) done()
  })
}

/** Resets the connection, because a regular end looks complete to an HTTP/1.0 client, such as a proxy. TLS sockets cannot be reset. */
export function breakConnection(response: NodeResponse): void {
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
