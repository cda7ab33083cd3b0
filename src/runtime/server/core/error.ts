/** Every way a request can fail, by name: the only place where status numbers stand. Rendered at the server's door. */
import type { AutoApiContext } from '../registration'
import { describeError } from './log'

export const STATUS = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  FIELD_FORBIDDEN: 403,
  TENANT_REQUIRED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  UNKNOWN_FIELD: 400,
  UNKNOWN_RELATION: 400,
  INVALID_OPERATOR: 400,
  INVALID_VALUE: 400,
  INVALID_CURSOR: 400,
  INVALID_QUERY: 400,
  LIMIT_EXCEEDED: 400,
  INVALID_BODY: 400,
  VALIDATION_FAILED: 400,
  INVALID_REFERENCE: 400,
  CROSS_SITE: 403,
  UNSUPPORTED_MEDIA_TYPE: 415,
  PAYLOAD_TOO_LARGE: 413,
  CONFLICT: 409,
  RATE_LIMITED: 429,
  BULK_FAILED: 400,
  BUSY: 503,
} as const

export type ErrorCode = keyof typeof STATUS

export interface ErrorData {
  readonly code: ErrorCode
  readonly [detail: string]: unknown
}

/** A refusal the caller is told about. Anything else that is thrown becomes a 500 without detail. */
export class ApiError extends Error {
  readonly data: ErrorData
  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, readonly status: number = STATUS[code], readonly headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.name = 'ApiError'
    this.data = { code, ...details }
  }
}

export interface Issue {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly code: string
}

export function unauthenticated(): ApiError {
  return new ApiError('UNAUTHENTICATED', 'Sign in to do this.')
}

/** 401 for an anonymous caller, 403 for a signed-in one. */
export function refused(ctx: AutoApiContext): ApiError {
  return ctx.user === null
    ? unauthenticated()
    : new ApiError('FORBIDDEN', 'You may not do this.')
}

export function tenantRequired(ctx: AutoApiContext): ApiError {
  return new ApiError('TENANT_REQUIRED', 'This needs an organization, and the request has none.', {}, anonymous(ctx) ?? STATUS.TENANT_REQUIRED)
}

export function fieldForbidden(ctx: AutoApiContext, fields: readonly string[]): ApiError {
  return new ApiError('FIELD_FORBIDDEN', `You may not write: ${fields.join(', ')}.`, { fields }, anonymous(ctx) ?? STATUS.FIELD_FORBIDDEN)
}

const anonymous = (ctx: AutoApiContext) => ctx.user === null ? STATUS.UNAUTHENTICATED : undefined

/** The same answer for a row that does not exist and one the caller may not see. */
export function notFound(): ApiError {
  return new ApiError('NOT_FOUND', 'There is no such record.')
}

/** A relation in a path that does not exist, or that the caller cannot know of. */
export function unknownRelationRoute(relation: string): ApiError {
  return new ApiError('NOT_FOUND', `There is no relation ${quote(relation)} here.`, { relation })
}

/** Records to link that do not exist or are not visible. */
export function unknownIds(relation: string, ids: readonly string[]): ApiError {
  return new ApiError('NOT_FOUND', `There are no such records to link as ${quote(relation)}: ${ids.slice(0, 20).map(quote).join(', ')}.`, { relation, ids })
}

export function methodNotAllowed(allowed: readonly string[]): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', `Use one of: ${allowed.join(', ')}.`, { allowed }, undefined, { Allow: allowed.join(', ') })
}

/** The same answer for a field that does not exist, a hidden one and one the caller may not read. */
export function unknownField(parameter: string, field: string): ApiError {
  return new ApiError('UNKNOWN_FIELD', `\`${parameter}\` names an unknown field: ${quote(field)}.`, { parameter, field })
}

export function invalidValue(parameter: string, message: string): ApiError {
  return new ApiError('INVALID_VALUE', `\`${parameter}\`: ${message}`, { parameter })
}

export function unknownRelation(parameter: string, relation: string): ApiError {
  return new ApiError('UNKNOWN_RELATION', `\`${parameter}\` names an unknown relation: ${quote(relation)}.`, { parameter, relation })
}

export function invalidOperator(parameter: string, operator: string): ApiError {
  return new ApiError('INVALID_OPERATOR', `\`${parameter}\` has no operator ${quote(operator)} for this.`, { parameter, operator: operator.slice(0, 60) })
}

export function limitExceeded(message: string, parameter?: string): ApiError {
  return new ApiError('LIMIT_EXCEEDED', message, parameter === undefined ? {} : { parameter })
}

export function invalidCursor(): ApiError {
  return new ApiError('INVALID_CURSOR', 'The cursor does not belong to this list and order. Start again without one.', { parameter: 'cursor' })
}

export function invalidQuery(message: string, parameter?: string): ApiError {
  return new ApiError('INVALID_QUERY', message, parameter === undefined ? {} : { parameter })
}

export function invalidBody(message: string): ApiError {
  return new ApiError('INVALID_BODY', message)
}

/** The client left, or the connection broke, while the body was read. */
export function incompleteBody(): ApiError {
  return invalidBody('The body ended before it was complete.')
}

/** @param limit bytes */
export function payloadTooLarge(limit: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes.`, { maxBodySize: limit })
}

export function validationFailed(issues: readonly Issue[]): ApiError {
  return new ApiError('VALIDATION_FAILED', 'The body is not valid.', { issues })
}

export function unsupportedMediaType(): ApiError {
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.')
}

/** A write that another site's page sends in the caller's name. */
export function crossSite(): ApiError {
  return new ApiError('CROSS_SITE', 'Writes from another site are refused.')
}

export function conflict(message: string, fields?: readonly string[]): ApiError {
  return new ApiError('CONFLICT', message, fields?.length ? { fields } : {})
}

/** The row changed between being judged and being written. */
export function changedMeanwhile(): ApiError {
  return new ApiError('CONFLICT', 'The record was changed by somebody else. Try again.')
}

/** Other writes stood in the way again and again; nothing was written. */
export function busy(): ApiError {
  return new ApiError('BUSY', 'Too many writes at once. Try again.', {}, undefined, { 'Retry-After': '1' })
}

const isOf = (code: ErrorCode) => (error: unknown) => error instanceof ApiError && error.data.code === code

export const isBusy = isOf('BUSY')
export const isInvalidReference = isOf('INVALID_REFERENCE')

export function invalidReference(field?: string): ApiError {
  return new ApiError('INVALID_REFERENCE', field === undefined ? 'A reference points at no record.' : `\`${field}\` points at no record.`, field === undefined ? {} : { field })
}

/** @param seconds after which a request is let in again */
export function rateLimited(seconds: number): ApiError {
  return new ApiError('RATE_LIMITED', 'Too many requests. Try again later.', { retryAfter: seconds }, undefined, { 'Retry-After': String(seconds) })
}

export interface ItemFailure {
  readonly index: number
  readonly id?: string | number
  readonly error?: unknown
}

/** Of many items some failed: the status of the first one, and what is wrong with each. */
export function bulkFailed(what: 'nothing was written' | 'rolled back', failures: readonly ItemFailure[]): ApiError {
  const errors = failures.map(describeFailure)
  const [{ error: first }] = failures as readonly [ItemFailure]
  return new ApiError('BULK_FAILED', `Bulk operation failed (${what})`, { errors }, errors[0]!.statusCode, first instanceof ApiError ? first.headers : {})
}

/** One item's failure as it is told; an unexpected one without detail. */
export function describeFailure({ index, id, error }: ItemFailure): { index: number, id?: string | number, statusCode: number, message: string, code?: string, issues?: unknown } {
  const { status, statusCode, message, data } = error as { status?: number, statusCode?: number, message?: string, data?: { code?: string, issues?: unknown } }
  // Another error with a status, such as that of a request a hook made, speaks of the server's own business.
  const known = error instanceof ApiError || isHttpError(error) ? status ?? statusCode : undefined
  if (known === undefined) console.error('[auto-api] An item of a bulk operation failed unexpectedly.', describeError(error))
  return {
    index,
    ...id !== undefined && { id },
    statusCode: known ?? 500,
    message: known === undefined ? 'Something went wrong.' : message ?? '',
    ...known !== undefined && data?.code !== undefined && { code: data.code },
    ...known !== undefined && data?.issues !== undefined && { issues: data.issues },
  }
}

/** An error made by `createError`: h3's own, of whichever copy of h3 the app's code uses. */
export function isHttpError(error: unknown): error is Error {
  const constructor = (error as { constructor?: { __h3_error__?: boolean } } | null)?.constructor
  return constructor?.__h3_error__ === true || (error instanceof Error && error.name === 'HTTPError')
}

/** What a client sent, short enough for a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
