/** A random request, with its response. */
import type { TestClient, TestResponse } from '../api/client'

export type Query = Readonly<Record<string, unknown>>

export interface SentRequest {
  readonly method: string
  /** The path below the prefix. */
  readonly path: string
  readonly query?: Query
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Exchange {
  readonly sent: SentRequest
  readonly response: TestResponse
}

/** A response without an end, such as a stream of changes. */
const ENDLESS: TestResponse = { status: 0, body: undefined, code: undefined, headers: new Headers(), text: '' }

/** Routes of plugins can stream for ever. */
const TIME_LIMIT = 3000

export const isEndless = ({ status }: TestResponse) => status === 0

export async function send(client: TestClient, { method, path, query, body, headers }: SentRequest): Promise<TestResponse> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<TestResponse>((resolve) => {
    timer = setTimeout(resolve, TIME_LIMIT, ENDLESS)
  })
  try {
    const sent = client.request(method, path, { ...query && { query }, ...body !== undefined && { body }, ...headers && { headers } })
    return await Promise.race([sent, limit])
  }
  finally {
    clearTimeout(timer)
  }
}

/** @returns the text of a request, for messages */
export function describeSent(caller: string, { method, path, query = {}, body, headers }: SentRequest): string {
  const parts = Object.entries(query).map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
  const tag = headers?.['if-none-match']
  return `${method} ${path}${parts.length > 0 ? `?${parts.join('&')}` : ''}${body === undefined ? '' : ` with ${JSON.stringify(body)}`}`
    + `${tag === undefined ? '' : ` if none matches ${tag}`} as ${caller}`
}
