/** Reads the body of a request and counts its bytes while reading, so that memory never contains more than the limit. */
import { incompleteBody, isHttpError, payloadTooLarge } from '../core/error'

/** A request that arrives over a Node connection. */
interface NodeRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly readableEnded?: boolean
  readonly rawBody?: unknown
  readonly body?: unknown
  readonly [H3_RAW_BODY]?: unknown
}

/** The parts of an event that can hold the body: those of h3 1, of h3 2, or of both. */
export interface EventWithBody {
  readonly method: string
  readonly headers: Headers
  readonly context: object
  readonly node?: { readonly req?: object }
  readonly req?: object
  readonly web?: { readonly request?: { readonly body?: unknown } }
  readonly _requestBody?: unknown
}

interface NodeStream {
  on: (name: 'data' | 'end' | 'error' | 'close', listen: (value: never) => void) => unknown
  off: (name: 'data' | 'end' | 'error' | 'close', listen: (value: never) => void) => unknown
  resume: () => unknown
  readonly destroyed?: boolean
}

/** The property in which h3 1 stores a body that was read, so that another handler can read it again. */
const H3_RAW_BODY = Symbol.for('h3RawBody')

const decoder = new TextDecoder()

/**
 * Reads the body as text. Returns `undefined` for a request without a body.
 * @throws `PAYLOAD_TOO_LARGE` as soon as the declared or the counted length is above the limit, or `INVALID_BODY` if the client
 * disconnects
 */
export async function readBody(event: EventWithBody, limit: number): Promise<string | undefined> {
  // A declared length above the limit is refused before reading. If the header is absent or wrong, the counted bytes decide.
  if (Number(event.headers.get('content-length')) > limit) throw payloadTooLarge(limit)
  const source = await findBody(event)
  if (source === undefined || source === null) return undefined
  const bytes = await toBytes(source, event, limit)
  if (bytes.byteLength > limit) throw payloadTooLarge(limit)
  return decoder.decode(bytes)
}

function findBody(event: EventWithBody): unknown {
  const h3Request = event.req as { readonly headers?: { readonly get?: unknown }, readonly body?: unknown } | undefined
  // In h3 2 `req` is the web request. In h3 1 it is Node's request, whose headers are a plain object.
  if (typeof h3Request?.headers?.get === 'function') return h3Request.body
  const cloudflareBody = bodyOfDelete(event)
  if (cloudflareBody) return cloudflareBody
  const request = event.node?.req as NodeRequest | undefined
  const buffered = event._requestBody || event.web?.request?.body || request?.[H3_RAW_BODY] || request?.rawBody || request?.body
  if (buffered || !request) return buffered
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  const hasBody = Number(length) > 0 || /\bchunked\b/i.test(String(encoding ?? ''))
  return hasBody && !request.readableEnded ? request : undefined
}

/**
 * Nitro 2 on Cloudflare reads the body of a POST, PUT or PATCH before it creates the event. It does not read the body of a DELETE: that
 * body stays in Cloudflare's request, and waiting for it on the event would never end.
 */
function bodyOfDelete({ method, context }: EventWithBody): ReadableStream | undefined {
  const { request } = ((context as { cloudflare?: { request?: Request } }).cloudflare ?? {})
  return method === 'DELETE' && request?.method === 'DELETE' && !request.bodyUsed ? request.body ?? undefined : undefined
}

async function toBytes(source: unknown, event: EventWithBody, limit: number): Promise<Uint8Array> {
  if (source instanceof Uint8Array) return source
  if (typeof source === 'string') return new TextEncoder().encode(source)
  const { getReader, on } = source as { getReader?: unknown, on?: unknown }
  if (typeof getReader === 'function') return readWebStream(source as ReadableStream<Uint8Array>, limit, event.node !== undefined)
  if (typeof on === 'function') return readNodeStream(source as NodeStream, limit)
  if (source instanceof URLSearchParams || source instanceof Blob || source instanceof FormData || source instanceof ArrayBuffer) {
    return new Uint8Array(await new Response(source).arrayBuffer())
  }
  // The platform has parsed the body already.
  return new TextEncoder().encode(JSON.stringify(source))
}

async function readWebStream(stream: ReadableStream<Uint8Array>, limit: number, isNode: boolean): Promise<Uint8Array> {
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read().catch(throwReadError)
    if (done) return join(chunks, length)
    length += value.byteLength
    if (length > limit) {
      // On Node, canceling would reset the connection before the client has the response.
      void (isNode ? drain(reader) : reader.cancel()).catch(() => {})
      throw payloadTooLarge(limit)
    }
    chunks.push(value)
  }
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

/** Rethrows an HTTP error of the app, such as its own limit. @throws `INVALID_BODY` for any other error: the connection ended. */
function throwReadError(error: unknown): never {
  throw isHttpError(error) ? error : incompleteBody()
}

function readNodeStream(stream: NodeStream, limit: number): Promise<Uint8Array> {
  // The client disconnected while the request was being authorized. The stream emits no more events.
  if (stream.destroyed) return Promise.reject(incompleteBody())
  const reading = new Promise<Uint8Array>((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let length = 0
    const onData = (chunk: Uint8Array) => {
      length += chunk.byteLength
      if (length <= limit) return chunks.push(chunk)
      stop(() => reject(payloadTooLarge(limit)))
      // Receives and drops the rest. Otherwise the client could block on sending and never read the response.
      stream.resume()
    }
    const onEnd = () => stop(() => resolve(join(chunks, length)))
    const onClosed = () => stop(() => reject(incompleteBody()))
    const stop = (settle: () => void) => {
      for (const [name, listen] of [['data', onData], ['end', onEnd], ['close', onClosed]] as const) stream.off(name, listen)
      settle()
    }
    stream.on('data', onData)
    stream.on('end', onEnd)
    stream.on('close', onClosed)
    // `stop` does not remove this listener: without an `error` listener, a stream error would end the process.
    stream.on('error', onClosed)
  })
  // h3's own functions find the body under this symbol if another handler reads it again.
  Object.assign(stream, { [H3_RAW_BODY]: reading })
  return reading
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}
