/** Errors that an app or a plugin throws, with its own codes. */
import { assertHeader } from './header'
import { ApiError, type CustomCode } from '../error'
import { ERRORS, type ErrorCode } from '../../../shared/error-codes'

export interface ApiErrorOptions {
  /** The status, 400 to 599. An error code of the API has its own status; other codes require one. */
  readonly status?: number
  /**
   * Further keys of `data`, as JSON.
   * @default {}
   */
  readonly details?: Readonly<Record<string, unknown>>
  /**
   * Headers of the response.
   * @default {}
   */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Creates an error that the API sends with this code, message and details. Throw it in hooks, endpoints and parts of plugins.
 * @param code a code of the API, or a code of your own in capital letters, digits and `_`
 * @param message a sentence for the client
 * @throws TypeError if the code, the status, the details or a header is invalid.
 * @example
 * throw apiError('QUOTA_EXCEEDED', 'Your plan has 10 projects.', { status: 402, details: { limit: 10 } })
 */
export function apiError(code: string, message: string, { status, details = {}, headers = {} }: ApiErrorOptions = {}): ApiError {
  if (typeof code !== 'string' || !/^[A-Z][A-Z0-9_]*$/.test(code))
    throw invalid(`the code ${show(code)} is not made of capital letters, digits and \`_\`.`)
  if (typeof message !== 'string') throw invalid(`the message of \`${code}\` is ${show(message)}. Use a string.`)
  if (typeof details !== 'object' || details === null || Array.isArray(details) || Object.hasOwn(details, 'code'))
    throw invalid(`\`details\` of \`${code}\` is not an object, or has the key \`code\`.`)
  assertJson(code, details)
  assertHeaders(code, headers)
  if (Object.hasOwn(ERRORS, code)) {
    const builtIn = code as ErrorCode
    if (status !== undefined && status !== ERRORS[builtIn].status)
      throw invalid(`\`${code}\` is a code of the API with the status ${ERRORS[builtIn].status}. Leave out \`status\`.`)
    return new ApiError(builtIn, message, details, undefined, headers)
  }
  if (!Number.isInteger(status) || status! < 400 || status! > 599)
    throw invalid(`\`${code}\` requires \`status\`, a number from 400 to 599. It is ${show(status)}.`)
  return new ApiError(code as CustomCode, message, details, status!, headers)
}

/** The server converts an error to JSON when nothing can handle a further error: the request would never end. */
function assertJson(code: string, details: object): void {
  try {
    JSON.stringify(details)
  }
  catch (error) {
    throw new TypeError(`[auto-api] apiError(): \`details\` of \`${code}\` cannot be converted to JSON.`, { cause: error })
  }
}

/** @throws TypeError if the HTTP server would refuse a header. */
function assertHeaders(code: string, headers: unknown): void {
  if (typeof headers !== 'object' || headers === null) throw invalid(`\`headers\` of \`${code}\` is not an object.`)
  for (const [name, value] of Object.entries(headers)) assertHeader(name, value, `apiError('${code}')`)
}

const invalid = (problem: string) => new TypeError(`[auto-api] apiError(): ${problem}`)

const show = (value: unknown) => JSON.stringify(value) ?? String(value)
