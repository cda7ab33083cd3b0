/** Sends a body that the server pushes whenever it has something, such as a stream of events. A client that does not read is dropped. */
import { createAttached } from '../core/process/request-scoped'
import { platformOf, type HttpEvent, type NodeResponse } from './platform'
import { breakConnection, signalOf } from './stream'

/** The end of a pushed body. Everything after it has no effect. */
export interface Push {
  /** Streams that send the same bytes share them. */
  readonly send: (bytes: Uint8Array) => void
  readonly end: () => void
}

export interface Pushed {
  /** Runs when the response can be sent. It has to send something at once, because that sends the headers too. */
  readonly start: (push: Push) => void
  /** Runs once, when the client has left or is dropped, or after `end`. */
  readonly stop: () => void
  /** The bytes that can wait for the client. With more, the connection is closed. */
  readonly maxQueued: number
}

declare const pushed: unique symbol

/** The body of a response that the server pushes. */
export interface PushedBody { readonly [pushed]: true }

const bodies = createAttached<Pushed>('pushed body')

/**
 * @example
 * return { status: 200, body: pushedBody({ start: push => push.send(hello), stop: () => {}, maxQueued: 256 * 1024 }) }
 */
export function pushedBody(options: Pushed): PushedBody {
  const body = {} as PushedBody
  bodies.set(body, options)
  return body
}

export const findPushed = (body: unknown): Pushed | undefined => typeof body === 'object' && body !== null ? bodies.get(body) : undefined

/** Begins the body, and returns what the handler of h3 returns. The request is then over for the server: it does not wait for the end. */
export function sendPushed(event: HttpEvent, body: Pushed): unknown {
  const response = platformOf(event).nodeResponse(event)
  return response ? pushToNode(event, response, body) : pushToWeb(event, body)
}

/** What a platform does with a pushed body. */
interface Target {
  readonly write: (bytes: Uint8Array) => void
  /** Whether more waits than the client may leave unread. */
  readonly isFull: () => boolean
  readonly end: () => void
  readonly break: () => void
}

/** @returns what the platform calls when the client has left */
function begin(event: HttpEvent, { start, stop }: Pushed, target: Target): () => void {
  let ended = false
  const finish = () => {
    if (ended) return
    ended = true
    stop()
  }
  signalOf(event).addEventListener('abort', finish, { once: true })
  start({
    send(bytes) {
      if (ended) return
      target.write(bytes)
      if (!target.isFull()) return
      finish()
      target.break()
    },
    end() {
      if (ended) return
      finish()
      target.end()
    },
  })
  return finish
}

function pushToNode(event: HttpEvent, response: NodeResponse, body: Pushed): void {
  // The end of the connection ends the body. Without the framing of chunks, a write takes half of the time.
  response.removeHeader('transfer-encoding')
  begin(event, body, {
    write: bytes => void response.write(bytes),
    isFull: () => response.writableLength > body.maxQueued,
    end: () => void response.end(),
    break: () => breakConnection(response),
  })
}

function pushToWeb(event: HttpEvent, body: Pushed): ReadableStream<Uint8Array> {
  let cancel: () => void
  return new ReadableStream({
    start(controller) {
      cancel = begin(event, body, {
        write: bytes => controller.enqueue(bytes),
        isFull: () => controller.desiredSize! < 0,
        end: () => controller.close(),
        break: () => controller.error(new Error('The client does not read.')),
      })
    },
    cancel: () => cancel(),
  }, { highWaterMark: body.maxQueued, size: chunk => chunk.byteLength })
}
