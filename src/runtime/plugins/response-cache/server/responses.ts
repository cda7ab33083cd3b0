/** Converts responses to entries, and entries to responses. */
import { responseHeadersOf } from '../../../server/kit/event'
import { type ApiResponse, createTextResponse, tagResponse } from '../../../server/kit/respond'
import type { Entry } from './store'
import { createAttached } from '../../../server/kit/process'

/** Headers of responses that only their caller must get, or that no cache must store. */
const FORBIDDEN = /^set-cookie$/i
const isNoStore = (name: string, value: string) => /^cache-control$/i.test(name) && /no-store/i.test(value)

/**
 * Returns `undefined` for a response that must not be stored: an error, a stream, a text, or one with a header that forbids it.
 */
export async function toEntry(response: ApiResponse, ttl: number): Promise<Entry | undefined> {
  const { status, revision, headers, reads } = response
  if (status !== 200 || reads === undefined || response.created !== undefined) return undefined
  if (Object.entries(headers ?? {}).some(([name, value]) => FORBIDDEN.test(name) || isNoStore(name, value))) return undefined
  const tagged = await tagResponse(response)
  return tagged && {
    ...tagged, reads, expires: Date.now() + ttl * 1000, ...revision !== undefined && { revision }, ...headers && { headers },
  }
}

/** @param state the parameters of `Cache-Status` (RFC 9211) */
export function toResponse(entry: Entry, state: string): ApiResponse {
  const { text, etag, revision, headers, reads } = entry
  return createTextResponse({ status: 200, revision, reads, headers: Object.freeze({ ...headers, ...cacheStatus(state) }) }, { text, etag })
}

/** The response of an entry during one second. */
interface Prepared {
  readonly seconds: number
  readonly response: ApiResponse
}

const prepared = createAttached<Prepared>('prepared response')

/** @param shares whether requests can share one response, because nothing but the HTTP adapter receives it */
export function toHit(entry: Entry, shares: boolean): ApiResponse {
  const seconds = Math.max(0, Math.ceil((entry.expires - Date.now()) / 1000))
  const known = shares ? prepared.get(entry) : undefined
  if (known?.seconds === seconds) return known.response
  const response = toResponse(entry, `hit; ttl=${seconds}`)
  if (shares) prepared.set(entry, { seconds, response: Object.freeze(response) })
  return response
}

export const cacheStatus = (state: string) => ({ 'Cache-Status': `auto-api; ${state}` })

/** Returns the headers that code has set on the event itself. A stored response would lack them. */
export function eventHeaders(event: object): string {
  return JSON.stringify(responseHeadersOf(event))
}
