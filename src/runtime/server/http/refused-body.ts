/**
 * Closes the connection of a request whose body the API does not read to its end. Node would keep the connection, and read on for as long
 * as the client sends. On other platforms the runtime decides.
 */

/** After the refusal, a client that is still sending gets this long to read it, and can send this much. A reset could take it away. */
export const LINGER = { ms: 1000, bytes: 1024 * 1024 }

interface NodeSocket {
  destroySoon?: () => unknown
  readonly end: () => unknown
  readonly destroy: () => unknown
}

interface NodeRequest {
  readonly socket?: NodeSocket
  readonly complete?: boolean
  readonly httpVersionMajor?: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly on: (name: 'data', listen: (chunk: Uint8Array) => void) => unknown
  readonly pause: () => unknown
}

interface NodeResponse {
  readonly headersSent?: boolean
  readonly setHeader: (name: string, value: string) => unknown
}

export interface EventWithNode {
  readonly node?: { readonly req?: object, readonly res?: unknown }
}

/**
 * Call it before the response is sent. A short body of a request that is refused for another reason is read, and the connection is kept.
 * @param isRefused whether the body is the reason of the error
 */
export function closeAfterRefusal(event: EventWithNode, isRefused: boolean): void {
  const { node } = event
  const [request, response] = [node?.req as NodeRequest | undefined, node?.res as NodeResponse | undefined]
  const socket = request?.socket
  // Streams of HTTP/2 share a connection, and stand-ins on workers have none.
  if (!request || !response || response.headersSent || !socket?.destroySoon || request.httpVersionMajor !== 1) return
  if (!isRefused && (request.complete || !isLong(request))) return
  response.setHeader('connection', 'close')
  if (request.complete) return
  let rest = LINGER.bytes
  request.on('data', (chunk) => {
    rest -= chunk.byteLength
    if (rest < 0) request.pause()
  })
  // Node calls this function when it has sent the response.
  socket.destroySoon = () => {
    socket.end()
    const timer: unknown = setTimeout(() => socket.destroy(), LINGER.ms)
    ;(timer as { readonly unref?: () => void }).unref?.()
  }
}

/** Whether more can arrive than the server reads after a refusal. */
function isLong({ headers }: NodeRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LINGER.bytes
}
