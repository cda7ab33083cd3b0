/** Reads the body of a request, whole or in chunks, and counts its bytes while reading. */
import { joinBytes } from '../../shared/bytes'
import { incompleteBody, isHttpError, payloadTooLarge } from '../core/error'
import { platformOf, type HttpEvent } from './platform'
import { LINGER } from './refused-body'

interface NodeStream {
  on: (name: 'data' | 'end' | 'error' | 'close', listen: (value: never) => void) => unknown
  off: (name: 'data' | 'end' | 'error' | 'close', listen: (value: never) => void) => unknown
  pause: () => unknown
  resume: () => unknown
  readonly destroyed?: boolean
}

const decoder = new TextDecoder()

/**
 * Reads the body as text. Returns `undefined` for a request without a body.
 * @throws As {@link readChunks}.
 */
export async function readBody(event: HttpEvent, limit: number): Promise<string | undefined> {
  const platform = platformOf(event)
  const body = platform.body(event)
  const reading = readAll(body, event, limit)
  platform.shareBody?.(event, body, reading)
  const bytes = await reading
  return bytes && decoder.decode(bytes)
}

/** A body of Node is read without the pauses of {@link readChunks}: most have one chunk, and each pause takes several promises. */
async function readAll(body: unknown, event: HttpEvent, limit: number): Promise<Uint8Array | undefined> {
  assertLength(event, limit)
  if (isNodeStream(body)) return readNodeStream(body, limit)
  const chunks: Uint8Array[] = []
  for await (const chunk of readSource(body, event, limit)) chunks.push(chunk)
  return toBody(chunks)
}

const toBody = (chunks: readonly Uint8Array[]) => chunks.length === 0 ? undefined : joinBytes(chunks)

function readNodeStream(stream: NodeStream, limit: number): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let length = 0
    const settle = (finish: () => void) => {
      stream.off('data', onData)
      stream.off('end', onEnd)
      stream.off('close', onClosed)
      // Receives and drops the rest. Otherwise the client could block on sending and never read the response.
      stream.resume()
      finish()
    }
    const onData = (chunk: Uint8Array) => {
      length += chunk.byteLength
      if (length > limit) settle(() => reject(payloadTooLarge(limit)))
      else if (chunk.byteLength > 0) chunks.push(chunk)
    }
    const onEnd = () => settle(() => resolve(toBody(chunks)))
    const onClosed = () => settle(() => reject(incompleteBody()))
    // The client disconnected while the request was being authorized. The stream emits no more events.
    if (stream.destroyed) return reject(incompleteBody())
    stream.on('data', onData)
    stream.on('end', onEnd)
    stream.on('close', onClosed)
    // This listener stays: without an `error` listener, a stream error would end the process.
    stream.on('error', onClosed)
    stream.resume()
  })
}

/**
 * Reads the body in chunks, as they arrive. The next chunk is received when the consumer asks for it.
 * @throws `PAYLOAD_TOO_LARGE` as soon as the declared or the counted length is above the limit, or `INVALID_BODY` if the client
 * disconnects
 */
export async function* readChunks(event: HttpEvent, limit: number): AsyncGenerator<Uint8Array> {
  assertLength(event, limit)
  yield* readSource(platformOf(event).body(event), event, limit)
}

/**
 * Refuses a declared length above the limit before anything is read. If the header is absent or wrong, the counted bytes decide.
 * @throws `PAYLOAD_TOO_LARGE`
 */
function assertLength(event: HttpEvent, limit: number): void {
  if (Number(platformOf(event).header(event, 'content-length')) > limit) throw payloadTooLarge(limit)
}

async function* readSource(source: unknown, event: HttpEvent, limit: number): AsyncGenerator<Uint8Array> {
  if (source === undefined || source === null) return
  let length = 0
  for await (const chunk of toChunks(source, event)) {
    length += chunk.byteLength
    if (length > limit) throw payloadTooLarge(limit)
    if (chunk.byteLength > 0) yield chunk
  }
}

async function* toChunks(source: unknown, event: HttpEvent): AsyncGenerator<Uint8Array> {
  if (isWebStream(source)) yield* fromWebStream(source, event.node !== undefined)
  else if (isNodeStream(source)) yield* fromNodeStream(source)
  else yield await toBytes(source)
}

const isWebStream = (source: unknown): source is ReadableStream<Uint8Array> =>
  typeof (source as { readonly getReader?: unknown } | null | undefined)?.getReader === 'function'

const isNodeStream = (source: unknown): source is NodeStream =>
  !isWebStream(source) && typeof (source as { readonly on?: unknown } | null | undefined)?.on === 'function'

async function toBytes(source: unknown): Promise<Uint8Array> {
  if (source instanceof Uint8Array) return source
  if (typeof source === 'string') return new TextEncoder().encode(source)
  if (source instanceof URLSearchParams || source instanceof Blob || source instanceof FormData || source instanceof ArrayBuffer) {
    return new Uint8Array(await new Response(source).arrayBuffer())
  }
  // The platform has parsed the body already.
  return new TextEncoder().encode(JSON.stringify(source))
}

async function* fromWebStream(stream: ReadableStream<Uint8Array>, isNode: boolean): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  let isDone = false
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(throwReadError)
      isDone = done
      if (done) return
      yield value
    }
  }
  finally {
    // On Node, canceling would reset the connection before the client has the response.
    if (!isDone) void (isNode ? drain(reader) : reader.cancel()).catch(() => {})
  }
}

/** Reads and drops what a client sends until it has read the refusal. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (let rest = LINGER.bytes; rest > 0;) {
    const { done, value } = await reader.read()
    if (done) return
    rest -= value.byteLength
  }
}

/** Rethrows an HTTP error of the app, such as its own limit. @throws `INVALID_BODY` for any other error: the connection ended. */
function throwReadError(error: unknown): never {
  throw isHttpError(error) ? error : incompleteBody()
}

/** The stream is paused while the consumer works on a chunk. The socket then receives no more than its own buffer. */
async function* fromNodeStream(stream: NodeStream): AsyncGenerator<Uint8Array> {
  // The client disconnected while the request was being authorized. The stream emits no more events.
  if (stream.destroyed) throw incompleteBody()
  const chunks: Uint8Array[] = []
  const progress: { state: 'open' | 'ended' | 'closed' } = { state: 'open' }
  let wake: () => void = () => {}
  const onData = (chunk: Uint8Array) => {
    chunks.push(chunk)
    stream.pause()
    wake()
  }
  const finish = (reached: 'ended' | 'closed') => () => {
    if (progress.state === 'open') progress.state = reached
    wake()
  }
  const onEnd = finish('ended')
  const onClosed = finish('closed')
  const listeners = [['data', onData], ['end', onEnd], ['close', onClosed]] as const
  for (const [name, listen] of listeners) stream.on(name, listen)
  // This listener stays: without an `error` listener, a stream error would end the process.
  stream.on('error', onClosed)
  try {
    for (;;) {
      const chunk = chunks.shift()
      if (chunk) yield chunk
      else if (progress.state === 'ended') return
      else if (progress.state === 'closed') throw incompleteBody()
      else await new Promise<void>((resolve) => {
        wake = resolve
        stream.resume()
      })
    }
  }
  finally {
    for (const [name, listen] of listeners) stream.off(name, listen)
    // Receives and drops the rest. Otherwise the client could block on sending and never read the response.
    stream.resume()
  }
}
