/** The results of tools: JSON text of a limited size. Errors of the API are results too, with their code. */
import type { z } from 'zod'
import type { ApiRequest } from '../../../server/kit/request'
import { ApiError, limitExceeded, validationFailed } from '../../../server/kit/errors'
import { type ApiResponse, bodyText, entityTagOf } from '../../../server/kit/respond'
import { toClientError } from '../../../server/kit/http'
import type { ToolCall } from './tool'

export interface ToolResult {
  readonly content: readonly { readonly type: 'text', readonly text: string }[]
  readonly isError?: true
}

export const toResult = (text: string): ToolResult => ({ content: [{ type: 'text', text }] })

/** Returns the JSON of a response. @throws `LIMIT_EXCEEDED` for a read with more bytes than a result can have. */
export function readResult(response: ApiResponse, call: ToolCall, advice: string): string {
  const text = bodyText(response)
  const bytes = sizeOf(text)
  const { maxBytes } = call.options
  if (bytes > maxBytes) throw limitExceeded(`The result has ${bytes} bytes, more than ${maxBytes}. ${advice}`)
  return text
}

/** Returns the record of a response with its entity tag, which an update can send as `ifMatch`. @param more further keys of the result */
export function recordResult(response: ApiResponse, call: ToolCall, more: object = {}): string {
  const text = readResult(response, call, 'Ask for fewer `fields` or relations.')
  const rest = JSON.stringify({ etag: entityTagOf(response, call.api.config), ...more })
  return rest === '{}' ? `{"record":${text}}` : `{"record":${text},${rest.slice(1)}`
}

/** As {@link recordResult}. The write is done, so a record that is too large is left out. */
export function writtenResult(response: ApiResponse, call: ToolCall, more: object = {}): string {
  if (sizeOf(JSON.stringify(response.body)) <= call.options.maxBytes) return recordResult(response, call, more)
  const etag = entityTagOf(response, call.api.config)
  return JSON.stringify({ done: true, etag, ...more, omitted: 'The record is too large for a result.' })
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

/**
 * Converts an error to a result. An error that is not meant for clients is logged.
 * @throws The error of an invalid token, so that the client gets the 401 on which it signs in again.
 */
export function toErrorResult(error: unknown, { event }: ApiRequest): ToolResult {
  if (error instanceof ApiError && error.data.code === 'INVALID_TOKEN') throw error
  const { status, message, data } = toClientError(error, event as object)
  return { ...toResult(JSON.stringify({ error: { status, message, ...data } })), isError: true }
}
