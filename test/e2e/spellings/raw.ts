/** Sends a request byte for byte: other clients clean its path, or refuse to send it. */
import { connect } from 'node:net'

export interface RawRequest {
  readonly method: string
  /** What follows the method in the first line, as it is. */
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface RawResponse {
  /** 0 if the server has closed the connection without a response. */
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

/** How long a response can pause. A stream of events never ends, and a server can wait for the rest of a request that is no HTTP. */
const PAUSE = 1_000

export function sendRaw(url: string, { method, target, headers = {}, body = '' }: RawRequest): Promise<RawResponse> {
  const { hostname, port, host } = new URL(url)
  const lines = Object.entries({
    host, connection: 'close', ...headers, ...body !== '' && { 'content-length': String(Buffer.byteLength(body)) },
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    const parts: Buffer[] = []
    const finish = () => {
      socket.destroy()
      resolve(parse(Buffer.concat(parts)))
    }
    socket.setTimeout(PAUSE, finish)
    socket.on('data', (part) => {
      parts.push(part)
      if (isComplete(Buffer.concat(parts), method)) finish()
    })
    socket.on('end', finish)
    // A server can reset the connection of a request that it refuses.
    socket.on('error', error => (error as NodeJS.ErrnoException).code === 'ECONNRESET' ? finish() : reject(error))
    socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
  })
}

/** Not every server closes the connection at the end of a response. Of a stream of events, the head is enough. */
function isComplete(bytes: Buffer, method: string): boolean {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return false
  const { status, headers } = parse(bytes)
  if (method === 'HEAD' || status === 204 || status === 304 || headers.get('content-type')?.includes('event-stream')) return true
  const length = headers.get('content-length')
  return length === undefined ? bytes.subarray(-5).equals(LAST_CHUNK) : bytes.length - end - 4 >= Number(length)
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n')

function parse(bytes: Buffer): RawResponse {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return { status: 0, headers: new Map(), text: '' }
  const [first, ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const headers = new Map(lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  }))
  const body = bytes.subarray(end + 4)
  const isChunked = headers.get('transfer-encoding')?.includes('chunked')
  return { status: Number(first!.split(' ')[1]), headers, text: (isChunked ? joinChunks(body) : body).toString('utf8') }
}

function joinChunks(body: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length;) {
    const line = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.subarray(at, line).toString('latin1'), 16)
    if (line === -1 || !(size > 0)) break
    parts.push(body.subarray(line + 2, line + 2 + size))
    at = line + 4 + size
  }
  return Buffer.concat(parts)
}
