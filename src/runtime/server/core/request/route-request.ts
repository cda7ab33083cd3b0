/** The request that the handler of an endpoint or of a plugin route receives as its second argument. */
import { toIncoming, type ApiRequest } from './api-request'
import type { Session } from './session'
import { assertHeader } from './header'
import type { IncomingRequest } from '../extensions/listeners'
import { DEFAULT_ACCEPTS } from './media-type'

export interface BodyStreamOptions {
  /**
   * The maximum size in bytes. A larger body is a 413 as soon as its declared or counted length is above the limit.
   * @default the option `http.maxBodySize`
   */
  readonly maxSize?: number
}

export interface RouteRequest extends IncomingRequest {
  /**
   * Reads the body as bytes, without keeping them in memory. The server receives the next chunk when the handler asks for it. The body can
   * be read once, either here or by the `body` schema.
   * @throws 415 for a media type that is not in `accepts`. While it is read: 413 above `maxSize`, `INVALID_BODY` if the client disconnects.
   * @throws TypeError if the body was read before.
   */
  readonly stream: (options?: BodyStreamOptions) => AsyncIterable<Uint8Array>
  /** Sets a header of the handler's response. A streamed response accepts headers until its first chunk. Error responses do not have it. */
  readonly setHeader: (name: string, value: string) => void
  /**
   * Sets the status of the handler's response, 200 to 399. Error responses have the status of their error.
   * @default 200, or 204 if the handler returns `undefined`
   */
  readonly setStatus: (status: number) => void
  /** Aborts when the client leaves before it has the whole response. Pass it to work that can be cancelled. */
  readonly signal: AbortSignal
}

/** Receives the parts of the response that the handler sets. The names of headers are in lower case. */
export interface ResponseSetters {
  readonly setHeader: (name: string, value: string) => void
  readonly setStatus: (status: number) => void
}

export function createRouteRequest(
  request: ApiRequest, { api, ctx }: Session, accepts: readonly string[] | undefined, { setHeader, setStatus }: ResponseSetters,
): RouteRequest {
  return {
    ...toIncoming(request, ctx.resource, [ctx.operation]),
    setHeader(name, value) {
      assertHeader(name, value, 'request.setHeader()')
      setHeader(name.toLowerCase(), value)
    },
    setStatus(status) {
      if (!Number.isInteger(status) || status < 200 || status > 399)
        throw new TypeError(`[auto-api] request.setStatus(): ${String(status)} is not a status from 200 to 399. Throw an error for others.`)
      setStatus(status)
    },
    stream({ maxSize = api.config.http.maxBodySize } = {}) {
      if (!Number.isSafeInteger(maxSize) || maxSize < 1)
        throw new TypeError(`[auto-api] request.stream(): \`maxSize\` is not a whole number of bytes: ${String(maxSize)}.`)
      return request.stream(accepts ?? DEFAULT_ACCEPTS, maxSize)
    },
    get signal() {
      return request.signal()
    },
  }
}
