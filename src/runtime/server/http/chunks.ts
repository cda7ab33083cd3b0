/** Pulls the chunks of a streamed response from their producer, one at a time, and stops the producer when the client leaves. */
import { logError } from '../core/process/log'

/** The body of a streamed response. The server requests a chunk only after the client has accepted the one before it. */
export type StreamedBody = AsyncIterable<Uint8Array | string>

export function isStreamed(body: unknown): body is StreamedBody {
  return typeof body === 'object' && body !== null && (Symbol.asyncIterator in body || body instanceof ReadableStream)
}

/** The chunks of one response. */
export interface Chunks {
  /** Returns the next chunk that is not empty, or `undefined` after the last chunk and after `stop`. */
  readonly next: () => Promise<Uint8Array | undefined>
  /** Ends the producer: calls its `return` at once, even while a chunk is pending. */
  readonly stop: () => void
  /** Resolves when the producer has ended. */
  readonly ended: Promise<void>
}

interface Producer {
  readonly next: () => Promise<IteratorResult<unknown, unknown>>
  readonly stop: () => unknown
}

const encoder = new TextEncoder()

/** @param signal aborts when the client leaves; the producer is stopped then */
export function readChunks(body: StreamedBody, signal: AbortSignal): Chunks {
  const producer = open(body)
  let ended = false
  let wake: () => void = () => {}
  let resolveEnded: () => void = () => {}
  const endedPromise = new Promise<void>(resolve => resolveEnded = resolve)
  const end = () => {
    ended = true
    signal.removeEventListener('abort', stop)
  }
  const finish = () => {
    end()
    resolveEnded()
  }
  function stop(): void {
    if (ended) return
    end()
    wake()
    void stopProducer(producer).then(resolveEnded)
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop)

  /** Settles with the result of the producer, or with `undefined` as soon as the producer is stopped. */
  const pull = () => new Promise<IteratorResult<unknown, unknown> | undefined>((resolve, reject) => {
    wake = () => resolve(undefined)
    producer.next().then(resolve, reject)
  })

  async function next(): Promise<Uint8Array | undefined> {
    while (!ended) {
      const result = await pull().catch((error: unknown) => {
        finish()
        throw error
      })
      if (!result || ended) return undefined
      if (result.done) {
        finish()
        return undefined
      }
      const bytes = toBytes(result.value)
      if (!bytes) {
        stop()
        throw new TypeError('[auto-api] A streamed response yielded a value that is neither a string nor a Uint8Array.')
      }
      if (bytes.byteLength > 0) return bytes
    }
    return undefined
  }
  return { next, stop, ended: endedPromise }
}

function toBytes(chunk: unknown): Uint8Array | undefined {
  return typeof chunk === 'string' ? encoder.encode(chunk) : chunk instanceof Uint8Array ? chunk : undefined
}

/** The iterator of a stream cannot be stopped while it waits for a chunk. So a stream itself is cancelled or destroyed. */
function open(body: StreamedBody): Producer {
  if (body instanceof ReadableStream) {
    const reader = (body as ReadableStream<unknown>).getReader()
    return { next: () => reader.read() as Promise<IteratorResult<unknown, unknown>>, stop: () => reader.cancel() }
  }
  const iterator = body[Symbol.asyncIterator]()
  const { destroy } = body as { readonly destroy?: unknown }
  return {
    async next() {
      const result: unknown = await iterator.next()
      if (typeof result !== 'object' || result === null)
        throw new TypeError('[auto-api] `next()` of a streamed response returned no object with `value` and `done`.')
      return result as IteratorResult<unknown, unknown>
    },
    stop: () => {
      if (typeof destroy === 'function') destroy.call(body)
      return iterator.return?.()
    },
  }
}

/** Ends a body that is not sent, such as that of a HEAD request, without starting it. */
export function discard(body: StreamedBody): void {
  const { cancel, destroy, return: end } = body as { readonly [method in 'cancel' | 'destroy' | 'return']?: unknown }
  const stop = [cancel, destroy, end].find(method => typeof method === 'function') as (() => unknown) | undefined
  void stopProducer({ stop: () => stop?.call(body) })
}

async function stopProducer({ stop }: Pick<Producer, 'stop'>): Promise<void> {
  try {
    await stop()
  }
  catch (error) {
    logError(undefined, 'The producer of a streamed response threw while it was stopped.', error)
  }
}
