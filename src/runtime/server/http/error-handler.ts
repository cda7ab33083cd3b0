/**
 * Nitro's error handler for the paths of the API: JSON or problem details, whatever the client accepts. Nuxt's own handler looks for
 * `/api/` in the URL, and sends its error page to clients that ask for no type, such as most HTTP libraries.
 */
import type { Awaitable } from '../core/awaitable'
import { wantsErrorsAs } from '../core/request/media-type'
import { headerOf } from './headers'
import { platformOf, type HttpEvent } from './platform'
import { readHttpError } from './platform/http-error'
import { PROBLEM_TYPE, toProblem } from './problem'
import { isUnmatchedPage } from './unknown-path'
import { sentUrl } from './url'

/** What Nitro's default handler returns. */
interface Rendered {
  readonly status?: number
  readonly statusText?: string
  readonly headers: Headers | Readonly<Record<string, string>>
  readonly body?: unknown
}

type ErrorEvent = HttpEvent & { readonly handled?: boolean }

type DefaultHandler = (error: Error, event: ErrorEvent, options: object) => Awaitable<Rendered>

export type NitroErrorHandler
  = (error: Error, event: ErrorEvent, tools: { readonly defaultHandler: DefaultHandler }) => Promise<Response | undefined>

/**
 * @param mountPath the prefix of the API, with the part of the base URL that the path of an event contains
 * @param toUnknownPathError creates the error of a path that nothing handles. It replaces Nuxt's error of a page that does not exist.
 */
export function createErrorHandler(mountPath: string, toUnknownPathError?: (event: HttpEvent) => Error): NitroErrorHandler {
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
    return platformOf(event).sendError(event, { status, statusText: rendered.statusText, headers, text })
  }
}

/** The body as text. The type of problem details replaces that of JSON. */
function bodyOf(event: HttpEvent, status: number, body: object, headers: Headers): string {
  if (wantsErrorsAs(headerOf(event, 'accept'), PROBLEM_TYPE)) {
    headers.set('content-type', PROBLEM_TYPE)
    return JSON.stringify(toProblem({ ...readHttpError(body), status }))
  }
  // Without the query string, which can hold values that must not be stored.
  return JSON.stringify('url' in body ? { ...body, url: sentUrl(event).path } : body, null, 2)
}
