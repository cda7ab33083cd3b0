/** Builds and reads responses. */
import type { AutoApiConfig } from '../../shared/config'
import { findText, isLarge, type ApiResponse, type Tagged } from '../core/extensions/response'
import type { RouteRequest } from '../core/request/route-request'
import type { Awaitable } from '../core/awaitable'
import { hashText } from '../core/plan/revision'
import { isNoneMatch, tagBody, tagInTurns } from '../http/etag'

export { type Push, pushedBody } from '../http/push'
export { type ApiResponse, bodyWithRevision, createTextResponse } from '../core/extensions/response'

/** Returns the body of a response as JSON text. */
export const bodyText = (response: ApiResponse): string => findText(response)?.text ?? JSON.stringify(response.body)

/** Returns the entity tag of a response with one record, if entity tags are on. */
export function entityTagOf(response: ApiResponse, { http }: AutoApiConfig): string | undefined {
  return http.etag && response.revision !== undefined ? (findText(response) ?? tagBody(response))?.etag : undefined
}

/**
 * Returns the JSON text of a body and its entity tag, or `undefined` for a body that is not plain JSON. A promise only for a large body:
 * other requests run while its text is made.
 */
export function tagResponse(response: ApiResponse): Awaitable<Tagged | undefined> {
  const known = findText(response)
  if (known) return known
  return isLarge(response.body) ? tagInTurns(response.body, response.revision) : tagBody(response)
}

/**
 * Answers a route of a plugin with a text: sets its media type and its entity tag.
 * @returns the body: `null` with the status 304 if the client has the text already
 */
export function sendText({ header, setHeader, setStatus }: RouteRequest, text: string, mediaType: string): string | null {
  const etag = `"${hashText(text)}"`
  setHeader('etag', etag)
  if (isNoneMatch(header('if-none-match'), etag)) {
    setStatus(304)
    return null
  }
  setHeader('content-type', mediaType)
  return text
}
