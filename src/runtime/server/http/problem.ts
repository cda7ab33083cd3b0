/** Problem details (RFC 9457): errors as `application/problem+json`, for clients that ask for this media type. */
import { ERRORS, STATUS_TEXT } from '../../shared/error-codes'
import type { HttpError } from './platform/http-error'

export const PROBLEM_TYPE = 'application/problem+json'

export interface Problem {
  /** The URL of the code in the docs. `about:blank` for an error without a code of the API. */
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  /** The keys of `data` of the error in its default form, such as `code`. */
  readonly [extension: string]: unknown
}

/** The docs are part of the package, and this site serves the files of packages. */
const DOCS = 'https://unpkg.com/nuxt-auto-api/docs/errors.md'

export function toProblem({ status = 500, statusText = 'Error', message, data }: HttpError): Problem {
  const extensions = typeof data === 'object' && data !== null && !Array.isArray(data) ? data as Readonly<Record<string, unknown>> : {}
  const { code } = extensions
  const isKnown = typeof code === 'string' && Object.hasOwn(ERRORS, code)
  return {
    // Members of the app must not replace those of the standard.
    ...extensions,
    type: isKnown ? `${DOCS}#${code.toLowerCase()}` : 'about:blank',
    title: isKnown ? toTitle(code) : STATUS_TEXT[status] ?? statusText,
    status,
    detail: message,
  }
}

/** `UNKNOWN_FIELD` → `Unknown field` */
const toTitle = (code: string) => code.charAt(0) + code.slice(1).toLowerCase().replaceAll('_', ' ')
