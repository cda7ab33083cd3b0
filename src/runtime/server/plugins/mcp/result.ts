/** The results of tools: JSON text of a limited size. Errors of the API are results too, with their code. */
import type { z } from 'zod'
import type { ApiRequest } from '../../kit/request'
import { ApiError, limitExceeded, validationFailed } from '../../kit/errors'
import { type ApiResponse, findText } from '../../kit/respond'
import { createToHttpError, type HttpErrorInput, tagBody } from '../../kit/http'
import type { ToolCall } from './tool'

export interface ToolResult {
  readonly content: readonly { readonly type: 'text', readonly text: string }[]
  readonly isError?: true
}

export const toResult = (text: string): ToolResult => ({ content: [{ type: 'text', text }] })

/** Returns the JSON of a response. @throws `LIMIT_EXCEEDED` for a read with more bytes than a result can have. */
export function readResult(response: ApiResponse, call: ToolCall, advice: string): string {
  const text = findText(response)?.text ?? JSON.stringify(response.body)
  const bytes = sizeOf(text)
  const { maxBytes } = call.options
  if (bytes > maxBytes) throw limitExceeded(`The result has ${bytes} bytes, more than ${maxBytes}. ${advice}`)
  return text
}

/** Returns the record of a response with its entity tag, which an update can send as `ifMatch`. */
export function recordResult(response: ApiResponse, call: ToolCall): string {
  const text = readResult(response, call, 'Ask for fewer `fields` or relations.')
  const etag = tagOf(response, call)
  return etag === undefined ? `{"record":${text}}` : `{"record":${text},"etag":${JSON.stringify(etag)}}`
}

/** As {@link recordResult}. The write is done, so a record that is too large is left out. */
export function writtenResult(response: ApiResponse, call: ToolCall): string {
  if (sizeOf(JSON.stringify(response.body)) <= call.options.maxBytes) return recordResult(response, call)
  return JSON.stringify({ done: true, etag: tagOf(response, call), omitted: 'The record is too large for a result.' })
}

function tagOf(response: ApiResponse, { api: { config } }: ToolCall): string | undefined {
  return config.http.etag && response.revision !== undefined ? (findText(response) ?? tagBody(response))?.etag : undefined
}

/** The size as UTF-8. */
export function sizeOf(text: string): number {
  return new TextEncoder().encode(text).byteLength
}

/** The result of arguments that do not match the schema of the tool. */
export function invalidArguments({ issues }: z.ZodError): ApiError {
  return validationFailed(issues.map(({ path, message, code }) => ({
    path: path.map(part => typeof part === 'symbol' ? String(part) : part), message, code: String(code),
  })))
}

/** Creates the error of h3, without h3: only the parts that a result contains. */
const toHttpError = createToHttpError<never>(
  ({ status, message, data }: HttpErrorInput) => Object.assign(new Error(message), { status, data }),
  { get: () => undefined, set: () => {} },
)

/** The parts of an error of h3 1 or h3 2. */
interface HttpErrorParts {
  readonly status?: number
  readonly statusCode?: number
  readonly data?: object
}

/**
 * Converts an error to a result. An error that is not meant for clients is logged.
 * @throws The error of an invalid token, so that the client gets the 401 on which it signs in again.
 */
export function toErrorResult(error: unknown, { event }: ApiRequest): ToolResult {
  if (error instanceof ApiError && error.data.code === 'INVALID_TOKEN') throw error
  const { status, statusCode = 500, message, data } = toHttpError(event as never, error) as Error & HttpErrorParts
  return { ...toResult(JSON.stringify({ error: { status: status ?? statusCode, message, ...data } })), isError: true }
}
