/** Sends a request to a built server and reads the response. */
import { setTimeout } from 'node:timers/promises'
import { assertNoSecrets, withoutIssued } from '../../support/secrets'

export interface RequestOptions {
  readonly method?: string
  /** Sent as JSON. */
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly cookie?: string
  /** The caller, for the fixtures whose middleware reads the header `x-caller`. */
  readonly caller?: object
  /** The id of a demo user of the playground. */
  readonly as?: number
  /** Milliseconds between the first byte of the body and the others. */
  readonly bodyDelay?: number
}

export interface ServerResponse {
  readonly status: number
  readonly headers: Headers
  /** The cookies that the response sets, as the next request sends them. */
  readonly cookies: readonly string[]
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads whatever a response holds
  readonly body: any
}

export async function sendRequest(url: string, options: RequestOptions = {}): Promise<ServerResponse> {
  const { method = 'GET', body, bodyDelay } = options
  const text = JSON.stringify(body)
  const response = await fetch(url, {
    method,
    headers: headersOf(options),
    ...body !== undefined && { body: bodyDelay === undefined ? text : delayed(text, bodyDelay), duplex: 'half' },
    redirect: 'manual',
  })
  const received = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  const parsed: unknown = isJson && received !== '' ? JSON.parse(received) : received
  assertNoSecrets(JSON.stringify([[...response.headers], withoutIssued(parsed)]), `The response to ${method} ${new URL(url).pathname}`)
  return {
    status: response.status,
    headers: response.headers,
    cookies: response.headers.getSetCookie().map(cookie => cookie.split(';', 1)[0]!),
    body: parsed,
  }
}

function headersOf({ body, cookie, caller, as, headers }: RequestOptions): Record<string, string> {
  return {
    ...body !== undefined && { 'content-type': 'application/json' },
    ...cookie !== undefined && { cookie },
    ...caller && { 'x-caller': JSON.stringify(caller) },
    ...as !== undefined && { 'x-demo-user': String(as) },
    ...headers,
  }
}

/** A body whose first byte comes with the headers. */
function delayed(text: string, milliseconds: number): ReadableStream {
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(text.slice(0, 1)))
      await setTimeout(milliseconds)
      controller.enqueue(new TextEncoder().encode(text.slice(1)))
      controller.close()
    },
  })
}
