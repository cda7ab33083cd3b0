/**
 * Nitro's error handler for the paths of the API: JSON or problem details, whatever the client accepts. Nuxt's own handler looks for
 * `/api/` in the URL, and sends its error page to clients that ask for no type, such as most HTTP libraries.
 */
import type { Awaitable } from '../core/awaitable'
import { wantsErrorsAs } from '../core/request/media-type'
import { headerOf, webRequestOf, type EventWithHeaders } from './web-request'
import { PROBLEM_TYPE, toProblem } from './problem'
import { isUnmatchedPage } from './unknown-path'
import { sentUrl, type EventWithUrl } from './url'

/** What Nitro's default handler returns. Nitro 2 has an object of headers, Nitro 3 has `Headers`. */
interface Rendered {
  readonly status?: number
  readonly statusText?: string
  readonly headers: Headers | Readonly<Record<string, string>>
  readonly body?: unknown
}

interface NodeResponse {
  statusCode: number
  statusMessage: string
  readonly setHeader: (name: string, value: string) => unknown
  readonly end: (text?: string) => unknown
}

type ErrorEvent = EventWithUrl & EventWithHeaders & { readonly handled?: boolean, readonly node?: { readonly res?: object } }

interface ErrorBody {
  readonly message?: string
  readonly statusText?: string
  readonly statusMessage?: string
  readonly data?: unknown
}

type DefaultHandler = (error: Error, event: ErrorEvent, options: object) => Awaitable<Rendered>

/** Nitro 3 sends what an error handler returns, Nitro 2 what it has written. */
export type NitroErrorHandler<Event extends ErrorEvent = ErrorEvent>
  = (error: Error, event: Event, tools: { readonly defaultHandler: DefaultHandler }) => Promise<Response | undefined>

/**
 * @param mountPath the prefix of the API, with the part of the base URL that the path of an event contains
 * @param toUnknownPathError creates the error of a path that nothing handles. It replaces Nuxt's error of a page that does not exist.
 */
export function createErrorHandler<Event extends ErrorEvent>(
  mountPath: string, toUnknownPathError?: (event: Event) => Error,
): NitroErrorHandler<Event> {
  const isBelow = (path: string) => path === mountPath || ['/', '?'].some(next => path.startsWith(mountPath + next))
  return async (thrown, event, { defaultHandler }) => {
    if (event.handled || !isBelow(event.path)) return
    const error = toUnknownPathError && isUnmatchedPage(thrown) ? toUnknownPathError(event) : thrown
    const rendered = await defaultHandler(error, event, { json: true })
    // A redirect to the base URL of the app.
    if (typeof rendered.body !== 'object' || rendered.body === null) return
    const headers = new Headers(rendered.headers)
    const status = rendered.status ?? 500
    const text = bodyOf(event, status, rendered.body, headers)
    const response = event.node?.res as NodeResponse | undefined
    if (!response || webRequestOf(event)) {
      addPrepared(event, headers)
      return new Response(text, { status, statusText: rendered.statusText, headers })
    }
    headers.forEach((value, name) => response.setHeader(name, value))
    response.statusCode = status
    if (rendered.statusText) response.statusMessage = rendered.statusText
    response.end(text)
  }
}

/** Adds the headers that are set for the response, such as `Allow` and `Cache-Control`. h3 2 does not add them to that of an error. */
function addPrepared(event: ErrorEvent, headers: Headers): void {
  const { headers: prepared } = (event as { readonly res?: { readonly headers?: unknown } }).res ?? {}
  if (!(prepared instanceof Headers)) return
  prepared.forEach((value, name) => {
    if (name === 'set-cookie') headers.append(name, value)
    else if (!OF_BODY.has(name)) headers.set(name, value)
  })
}

/** Headers of the body that the response would have had. */
const OF_BODY: ReadonlySet<string> = new Set(['content-type', 'content-length', 'content-encoding', 'content-range', 'etag'])

/** The body as text. The type of problem details replaces that of JSON. */
function bodyOf(event: ErrorEvent, status: number, body: object, headers: Headers): string {
  if (wantsErrorsAs(headerOf(event, 'accept'), PROBLEM_TYPE)) {
    headers.set('content-type', PROBLEM_TYPE)
    const { message = '', statusText, statusMessage, data } = body as ErrorBody
    return JSON.stringify(toProblem({ name: 'Error', message, ...{ status, statusText: statusText ?? statusMessage, data } }))
  }
  // Without the query string, which can hold values that must not be stored.
  return JSON.stringify('url' in body ? { ...body, url: sentUrl(event).path } : body, null, 2)
}
