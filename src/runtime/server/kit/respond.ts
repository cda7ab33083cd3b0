/** Builds and reads responses. */
import type { AutoApiConfig } from '../../shared/config'
import { findText, type ApiResponse } from '../core/extensions/response'
import { tagBody } from '../http/etag'

export { wireRecords } from '../core/entries/respond'
export { type ApiResponse, bodyWithRevision, createTextResponse, findText, isLarge, type Tagged } from '../core/extensions/response'

/** Returns the body of a response as JSON text. */
export const bodyText = (response: ApiResponse): string => findText(response)?.text ?? JSON.stringify(response.body)

/** Returns the entity tag of a response with one record, if entity tags are on. */
export function entityTagOf(response: ApiResponse, { http }: AutoApiConfig): string | undefined {
  return http.etag && response.revision !== undefined ? (findText(response) ?? tagBody(response))?.etag : undefined
}
