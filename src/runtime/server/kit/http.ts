/** What plugins need of HTTP: entity tags, work after the response, the URL as it was sent. */
export type { ApiEvent } from '../http'
export { runAfterResponse } from '../http/after-response'
export { createToHttpError, type HttpErrorInput } from '../http/errors'
export { isNoneMatch, tagBody, tagInTurns } from '../http/etag'
export { isPlain } from '../http/headers'
export { type EventWithUrl, sentUrl } from '../http/url'
