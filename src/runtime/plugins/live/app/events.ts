/** Reads the events of a response as they arrive. */
import { createParser } from 'eventsource-parser'

export interface ServerEvent {
  readonly event?: string
  readonly data: string
  readonly id?: string
  /** The last `retry` that the server has sent. */
  readonly retry?: number
}

/**
 * Yields each event of the body. Returning early closes the connection, and so does the signal.
 * @param heard runs whenever something arrives, comments included
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>, heard: () => void, signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const events: ServerEvent[] = []
  let retry: number | undefined
  const parser = createParser({
    onEvent: event => void events.push({ ...event, retry }),
    onRetry: value => void (retry = value),
  })
  const reader = body.getReader()
  const decoder = new TextDecoder()
  // An app can replace `$fetch` by one whose body does not follow the signal.
  const close = () => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', close)
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      heard()
      parser.feed(decoder.decode(value, { stream: true }))
      yield* events.splice(0)
    }
  }
  finally {
    signal.removeEventListener('abort', close)
    close()
  }
}
