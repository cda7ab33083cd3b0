/** Writes responses: status, headers, entity tag, body. */
import { STATUS_TEXT } from '../../shared/error-codes'
import type { ServerApi } from '../api/create'
import { findText, isLarge, type ApiResponse, type Tagged } from '../core/extensions/response'
import { assertHeader } from '../core/request/header'
import { discard, type StreamedBody } from './chunks'
import { logFailure } from './errors'
import { isNoneMatch, tagBody, tagInTurns } from './etag'
import { addCacheHeaders, applyHeader, withoutBody } from './headers'
import { stringifyInTurns } from './json-in-turns'
import { platformOf, type HttpEvent } from './platform'
import { readHttpError } from './platform/http-error'
import { PROBLEM_TYPE, toProblem } from './problem'
import { sendPushed, type Pushed } from './push'
import { sendStream } from './stream'

/** Sends a response whose status and headers are set. Returns the body for h3. */
export type Send = (event: HttpEvent, api: ServerApi, response: ApiResponse) => unknown

export function sendPlain(event: HttpEvent, _api: ServerApi, { body }: ApiResponse): unknown {
  return isLarge(body) ? stringifyInTurns(body).then(text => sendJson(event, text)) : sendBody(event, body)
}

function sendJson(event: HttpEvent, text: string): unknown {
  setDefaultType(event, 'application/json')
  return sendBody(event, text)
}

function sendBody(event: HttpEvent, body: unknown): unknown {
  return event.method === 'HEAD' ? withoutBody(event, platformOf(event), body) : body
}

/** Adds the entity tag to a write of a plugin whose response contains the record. */
export function respondWithRevision(event: HttpEvent, api: ServerApi, response: ApiResponse): unknown {
  return response.revision === undefined ? sendPlain(event, api, response) : respondWithTag(event, api, response)
}

/** Adds the entity tag to a read, and to a write whose response contains the record. Returns 304 if the client has the same response. */
export function respondWithTag(event: HttpEvent, api: ServerApi, response: ApiResponse): unknown {
  const isRead = event.method === 'GET' || event.method === 'HEAD'
  const hasTag = api.config.http.etag && (isRead ? response.status === 200 : response.revision !== undefined)
  if (!hasTag || platformOf(event).getHeader(event, 'etag')) return sendPlain(event, api, response)
  const text = findText(response)
  if (text) return sendTagged(event, text, isRead)
  const { body, revision } = response
  if (isLarge(body)) return tagInTurns(body, revision).then(tagged => sendTagged(event, tagged, isRead))
  const tagged = tagBody(response)
  return tagged ? sendTagged(event, tagged, isRead) : sendBody(event, body)
}

function sendTagged(event: HttpEvent, tagged: Tagged, isRead: boolean): unknown {
  const platform = platformOf(event)
  platform.setHeader(event, 'etag', tagged.etag)
  if (isRead && isNoneMatch(platform.header(event, 'if-none-match'), tagged.etag)) {
    platform.setStatus(event, 304)
    return null
  }
  // The text is sent as it was hashed, so that it is made only once.
  return sendJson(event, tagged.text)
}

/**
 * Sets the status and the headers of a response.
 * @param body absent if the response is JSON text already, which needs no header of its own here
 */
export function setHead(event: HttpEvent, response: ApiResponse, body?: unknown): void {
  const platform = platformOf(event)
  const { status, headers } = response
  if (status !== 200) platform.setStatus(event, status)
  if (headers) {
    assertHeaders(headers)
    for (const name in headers) applyHeader(event, name, headers[name]!)
  }
  // h3 sends text as HTML. A handler that returns text of a client would then run scripts of that client.
  if (typeof body === 'string') setDefaultType(event, 'text/plain; charset=utf-8')
  addCacheHeaders(event, platform, body)
}

function setDefaultType(event: HttpEvent, type: string): void {
  const platform = platformOf(event)
  if (!platform.getHeader(event, 'content-type')) platform.setHeader(event, 'content-type', type)
}

/** Headers that cannot change, and that were checked for an earlier response. */
const checked = new WeakSet<object>()

function assertHeaders(headers: Readonly<Record<string, string>>): void {
  if (checked.has(headers)) return
  for (const [name, value] of Object.entries(headers)) assertHeader(name, value, 'A response')
  if (Object.isFrozen(headers)) checked.add(headers)
}

export async function respondWithStream(event: HttpEvent, response: ApiResponse, body: StreamedBody): Promise<unknown> {
  const setStreamHead = () => {
    setHead(event, { ...response, headers: { ...response.headers, ...response.streamHeaders } }, response.body)
    setDefaultType(event, 'application/octet-stream')
  }
  if (event.method !== 'HEAD') return sendStream(event, body, { setHead: setStreamHead, onError: error => logFailure(event, error) })
  discard(body)
  setStreamHead()
  return ''
}

/** Begins a body that the server pushes. */
export function respondWithPushed(event: HttpEvent, response: ApiResponse, body: Pushed): unknown {
  setHead(event, response)
  return event.method === 'HEAD' ? '' : sendPushed(event, body)
}

export function respondToOptions(event: HttpEvent, allowed: readonly string[]): null {
  const platform = platformOf(event)
  platform.setHeader(event, 'allow', allowed.join(', '))
  platform.setStatus(event, 204)
  addCacheHeaders(event, platform)
  return null
}

export function respondWithProblem(event: HttpEvent, error: Error): unknown {
  const platform = platformOf(event)
  const problem = toProblem(readHttpError(error))
  // Nitro reports the errors that it renders to the `error` hooks of the app. A header of the client must not hide them.
  if (problem.status >= 500) platform.captureError?.(event, error)
  platform.setStatus(event, problem.status, STATUS_TEXT[problem.status])
  platform.setHeader(event, 'content-type', PROBLEM_TYPE)
  return sendBody(event, JSON.stringify(problem))
}
