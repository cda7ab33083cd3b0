/** What the API does for each request with ETags and the plugin `requestMetadata`, by hand. */
import { hash, randomUUID } from 'node:crypto'
import { getHeader, getRequestIP, setHeader, setResponseStatus, type H3Event } from 'h3'

/** Describes the request, and answers its id. */
export function addMetadata(event: H3Event): void {
  const requestId = randomUUID()
  event.context.metadata = {
    requestId,
    ip: getRequestIP(event) ?? null,
    userAgent: getHeader(event, 'user-agent') ?? null,
    traceId: getHeader(event, 'traceparent')?.split('-')[1],
  }
  setHeader(event, 'X-Request-Id', requestId)
}

/** Sends a body with its tag, or 304 if the client has the same body. */
export function sendTagged(event: H3Event, body: object): string | null {
  const text = JSON.stringify(body)
  const etag = `"${hash('sha256', text, 'base64url').slice(0, 16)}"`
  setHeader(event, 'etag', etag)
  setHeader(event, 'cache-control', 'private, no-cache')
  setHeader(event, 'vary', 'Cookie, Authorization, Accept')
  if (getHeader(event, 'if-none-match') === etag) {
    setResponseStatus(event, 304)
    return null
  }
  setHeader(event, 'content-type', 'application/json')
  return text
}
