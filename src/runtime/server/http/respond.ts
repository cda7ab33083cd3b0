/** Writes responses: status, headers, entity tag, body. */
import { STATUS_TEXT } from '../../shared/error-codes'
import type { ServerApi } from '../api/create'
import { findText, isLarge, type ApiResponse, type Tagged } from '../core/extensions/response'
import { assertHeader } from '../core/request/header'
import { discard, type StreamedBody } from './chunks'
import { logFailure } from './errors'
import { isNoneMatch, tagBody, tagInTurns } from './etag'
import { addCacheHeaders, withoutBody, type HeaderAccess } from './headers'
import { stringifyInTurns } from './json-in-turns'
import { getResponseHeader, setResponseHeader, setResponseStatus, type ApiEvent } from './platform/h3'
import { PROBLEM_TYPE, toProblem } from './problem'
import type { SetHeader } from './request'
import { sendStream } from './stream'
import { headerOf } from './web-request'

export const HEADERS = { get: getResponseHeader, set: setResponseHeader } satisfies HeaderAccess<ApiEvent>

/** Sets a header of the response. Keeps the cookies that are set already. Nitro's auto-imports have the name `setHeader`. */
export const applyHeader: SetHeader<ApiEvent> = (event, name, value) => {
  if (name.toLowerCase() !== 'set-cookie') return setResponseHeader(event, name, value)
  // In h3 2, a list would become one cookie.
  const own = (event as { readonly res?: { readonly headers?: unknown } }).res?.headers
  if (own instanceof Headers) own.append(name, value)
  else setResponseHeader(event, name, [getResponseHeader(event, name) ?? [], value].flat().map(String))
}

/** Sends a response whose status and headers are set. Returns the body for h3. */
export type Send = (event: ApiEvent, api: ServerApi, response: ApiResponse) => unknown

export function sendPlain(event: ApiEvent, _api: ServerApi, { body }: ApiResponse): unknown {
  return isLarge(body) ? stringifyInTurns(body).then(text => sendJson(event, text)) : sendBody(event, body)
}

function sendJson(event: ApiEvent, text: string): unknown {
  if (!getResponseHeader(event, 'content-type')) setResponseHeader(event, 'content-type', 'application/json')
  return sendBody(event, text)
}

function sendBody(event: ApiEvent, body: unknown): unknown {
  return event.method === 'HEAD' ? withoutBody(event, HEADERS, body) : body
}

/** Adds the entity tag to a write of a plugin whose response contains the record. */
export function respondWithRevision(event: ApiEvent, api: ServerApi, response: ApiResponse): unknown {
  return response.revision === undefined ? sendPlain(event, api, response) : respondWithTag(event, api, response)
}

/** Adds the entity tag to a read, and to a write whose response contains the record. Returns 304 if the client has the same response. */
export function respondWithTag(event: ApiEvent, api: ServerApi, response: ApiResponse): unknown {
  const isRead = event.method === 'GET' || event.method === 'HEAD'
  const hasTag = api.config.http.etag && (isRead ? response.status === 200 : response.revision !== undefined)
  if (!hasTag || getResponseHeader(event, 'etag')) return sendPlain(event, api, response)
  const text = findText(response)
  if (text) return sendTagged(event, text, isRead)
  const { body, revision } = response
  if (isLarge(body)) return tagInTurns(body, revision).then(tagged => sendTagged(event, tagged, isRead))
  const tagged = tagBody(response)
  return tagged ? sendTagged(event, tagged, isRead) : sendBody(event, body)
}

function sendTagged(event: ApiEvent, tagged: Tagged, isRead: boolean): unknown {
  setResponseHeader(event, 'etag', tagged.etag)
  if (isRead && isNoneMatch(headerOf(event, 'if-none-match'), tagged.etag)) {
    setResponseStatus(event, 304)
    return null
  }
  // The text is sent as it was hashed, so that it is made only once.
  return sendJson(event, tagged.text)
}

/**
 * Sets the status and the headers of a response.
 * @param body absent if the response is JSON text already, which needs no header of its own here
 */
export function setHead(event: ApiEvent, response: ApiResponse, body?: unknown): void {
  const { status, headers } = response
  if (status !== 200) setResponseStatus(event, status)
  if (headers) {
    assertHeaders(headers)
    for (const name in headers) applyHeader(event, name, headers[name]!)
  }
  // h3 sends text as HTML. A handler that returns text of a client would then run scripts of that client.
  if (typeof body === 'string' && !getResponseHeader(event, 'content-type'))
    setResponseHeader(event, 'content-type', 'text/plain; charset=utf-8')
  addCacheHeaders(event, HEADERS, body)
}

/** Headers that cannot change, and that were checked for an earlier response. */
const checked = new WeakSet<object>()

function assertHeaders(headers: Readonly<Record<string, string>>): void {
  if (checked.has(headers)) return
  for (const [name, value] of Object.entries(headers)) assertHeader(name, value, 'A response')
  if (Object.isFrozen(headers)) checked.add(headers)
}

export async function respondWithStream(event: ApiEvent, response: ApiResponse, body: StreamedBody): Promise<unknown> {
  const setStreamHead = () => {
    setHead(event, { ...response, headers: { ...response.headers, ...response.streamHeaders } }, response.body)
    if (!getResponseHeader(event, 'content-type')) setResponseHeader(event, 'content-type', 'application/octet-stream')
  }
  if (event.method !== 'HEAD') return sendStream(event, body, { setHead: setStreamHead, onError: error => logFailure(event, error) })
  discard(body)
  setStreamHead()
  return ''
}

export function respondToOptions(event: ApiEvent, allowed: readonly string[]): null {
  setResponseHeader(event, 'allow', allowed.join(', '))
  setResponseStatus(event, 204)
  addCacheHeaders(event, HEADERS)
  return null
}

/** Nitro 2 adds the function to the event. */
interface Capturing {
  readonly captureError?: (error: Error, context: object) => void
}

export function respondWithProblem(event: ApiEvent, error: Error): unknown {
  const problem = toProblem(error)
  // Nitro reports the errors that it renders to the `error` hooks of the app. A header of the client must not hide them.
  if (problem.status >= 500) (event as Capturing).captureError?.(error, { tags: ['request'] })
  setResponseStatus(event, problem.status, STATUS_TEXT[problem.status])
  setResponseHeader(event, 'content-type', PROBLEM_TYPE)
  const text = JSON.stringify(problem)
  return event.method === 'HEAD' ? withoutBody(event, HEADERS, text) : text
}
