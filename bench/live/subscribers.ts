/**
 * A process that keeps many streams open, each on a socket of its own, and says when signals arrive. Raw sockets, because a client of HTTP
 * would cost more than the server that is measured.
 */
import { connect, type Socket } from 'node:net'

export interface Subscribe {
  readonly port: number
  readonly path: string
  /** The headers of each stream. */
  readonly headers: readonly Readonly<Record<string, string>>[]
  /** What precedes the id of a record in an event. The id ends with a quotation mark. */
  readonly before: string
  /** A request that a client sends with the id of its stream. */
  readonly join?: Join
}

export interface Join {
  readonly path: string
  /** What precedes the id of the stream in its first event. The id ends with a quotation mark. */
  readonly before: string
  /** The body; `$id` stands for the id. */
  readonly body: string
}

export interface Arrivals {
  /** Milliseconds since 1970, by the id of the record: one for each stream that received the signal. */
  readonly at: Readonly<Record<string, readonly number[]>>
}

/** Streams that are opened at the same time. */
const AT_ONCE = 50

const sockets: Socket[] = []
let arrivals: Record<string, number[]> = {}

process.on('message', (message: { readonly subscribe?: Subscribe, readonly report?: true }) => {
  if (message.subscribe) void subscribe(message.subscribe).then(() => process.send!({ open: sockets.length }))
  if (!message.report) return
  process.send!({ at: arrivals } satisfies Arrivals)
  arrivals = {}
})

async function subscribe({ port, path, headers, before, join }: Subscribe): Promise<void> {
  const waiting = [...headers]
  const work = async () => {
    for (let own = waiting.pop(); own; own = waiting.pop()) sockets.push(await open(port, path, own, before, join))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

function open(
  port: number, path: string, headers: Readonly<Record<string, string>>, before: string, join: Join | undefined,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let isOpen = false
    let rest = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: unknown) => {
      const text = rest + String(chunk)
      if (!isOpen) {
        if (!text.startsWith('HTTP/1.1 200')) return reject(new Error(text.slice(0, 300)))
        const id = join && valueAfter(text, join.before)
        if (join && id === undefined) {
          rest = text
          return
        }
        isOpen = true
        const joined = join && fetch(`http://127.0.0.1:${port}${join.path}`, {
          method: 'POST', headers: { 'content-type': 'application/json' }, body: join.body.replace('$id', id!),
        })
        Promise.resolve(joined).then(() => resolve(socket), reject)
      }
      let end = 0
      for (let at = text.indexOf(before); at >= 0; at = text.indexOf(before, end)) {
        const close = text.indexOf('"', at + before.length)
        if (close < 0) break
        end = close;
        (arrivals[text.slice(at + before.length, close)] ??= []).push(Date.now())
      }
      rest = text.slice(Math.max(end, text.length - 200))
    })
    socket.on('error', reject)
    const lines = Object.entries({ host: 'localhost', accept: 'text/event-stream', ...headers }).map(([name, value]) => `${name}: ${value}`)
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  })
}

function valueAfter(text: string, before: string): string | undefined {
  const start = text.indexOf(before) + before.length
  const end = text.indexOf('"', start)
  return start < before.length || end < 0 ? undefined : text.slice(start, end)
}
