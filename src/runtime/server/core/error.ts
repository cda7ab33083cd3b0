/** The errors of the API: one function per error. `http` renders them. */
import { LIMITS } from '../../shared/limits'
import { didYouMean } from '../../shared/suggest'
import type { AutoApiContext } from '../registration'
import { ERRORS, type ErrorCode } from '../../shared/error-codes'

declare const custom: unique symbol

/** An error code of an app or a plugin. Only `apiError` makes one. */
export type CustomCode = string & { readonly [custom]: true }

export interface ErrorData {
  readonly code: ErrorCode | CustomCode
  readonly [detail: string]: unknown
}

/** An error whose message and data the client receives. Any other error becomes a 500 without details. */
export class ApiError extends Error {
  readonly data: ErrorData
  readonly status: number
  constructor(code: ErrorCode, message: string, details?: object, status?: number, headers?: Readonly<Record<string, string>>)
  constructor(code: CustomCode, message: string, details: object, status: number, headers?: Readonly<Record<string, string>>)
  constructor(
    code: ErrorCode | CustomCode,
    message: string,
    details: object = {},
    status?: number,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.data = { ...details, code }
    // The overloads require the status of a custom code.
    this.status = status ?? ERRORS[code as ErrorCode].status
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

/** Responds with 401 to an anonymous caller, with 403 to a signed-in caller. */
export function refused(ctx: AutoApiContext): ApiError {
  return ctx.user === null
    ? unauthenticated()
    : new ApiError('FORBIDDEN', 'You do not have permission to do this.')
}

export function tenantRequired(ctx: AutoApiContext): ApiError {
  return new ApiError(
    'TENANT_REQUIRED',
    'This request requires an organization. The caller has none.',
    {},
    anonymousStatus(ctx) ?? ERRORS.TENANT_REQUIRED.status,
  )
}

export function fieldForbidden(ctx: AutoApiContext, fields: readonly string[]): ApiError {
  const message = fields.length > 0 ? `You cannot write: ${fields.join(', ')}.` : 'You cannot write one of these fields.'
  return new ApiError('FIELD_FORBIDDEN', message, { fields }, anonymousStatus(ctx) ?? ERRORS.FIELD_FORBIDDEN.status)
}

/** Returns 401 for an anonymous caller, `undefined` for a signed-in caller. */
const anonymousStatus = (ctx: AutoApiContext) => ctx.user === null ? ERRORS.UNAUTHENTICATED.status : undefined

/** The same response for a row that does not exist and one that the caller cannot see. */
export function notFound(): ApiError {
  return new ApiError('NOT_FOUND', 'There is no such record.')
}

/** The path contains a relation that does not exist, or that the caller cannot read. */
export function unknownRelationRoute(relation: string): ApiError {
  return new ApiError('NOT_FOUND', `This resource has no relation ${quote(relation)}.`, { relation: shorten(relation) })
}

/** The request links records that do not exist, or that the caller cannot see. */
export function unknownIds(relation: string, ids: readonly string[]): ApiError {
  return new ApiError('NOT_FOUND', `Records to link in ${quote(relation)} do not exist: ${ids.slice(0, 20).map(quote).join(', ')}.`, {
    relation: shorten(relation),
    ids: ids.slice(0, LIMITS.issues).map(id => shorten(id, LIMITS.errorText)),
    ...ids.length > LIMITS.issues && { truncated: true },
  })
}

export function methodNotAllowed(allowed: readonly string[]): ApiError {
  const message = allowed.length > 0 ? `Use one of: ${allowed.join(', ')}.` : 'This path is disabled.'
  return new ApiError('METHOD_NOT_ALLOWED', message, { allowed }, undefined, { Allow: allowed.join(', ') })
}

/**
 * The same response for a field that does not exist, a hidden field, and a field that the caller cannot read.
 * @param known the names that the message can suggest: only those that the caller can use
 */
export function unknownField(parameter: string, field: string, known: Iterable<string>, at = parameter): ApiError {
  const message = `\`${place(at)}\` names an unknown field: ${quote(field)}.${didYouMean(field, [...known])}`
  return new ApiError('UNKNOWN_FIELD', message, { parameter, field: shorten(field) })
}

/** @param at the place of the value, for the message */
export function invalidValue(parameter: string, message: string, at = parameter): ApiError {
  return new ApiError('INVALID_VALUE', `\`${place(at)}\`: ${message}`, { parameter })
}

/** @param known the names that the message can suggest: only those that the caller can use */
export function unknownRelation(parameter: string, relation: string, known: readonly string[]): ApiError {
  return new ApiError('UNKNOWN_RELATION', `\`${parameter}\` names an unknown relation: ${quote(relation)}.${didYouMean(relation, known)}`, {
    parameter,
    relation: shorten(relation),
  })
}

/**
 * An operator that this place of the query does not accept.
 * @param at the place of the operator, for the message
 */
export function invalidOperator(parameter: string, operator: string, at = parameter, message = 'is not supported here'): ApiError {
  const path = place(at === parameter ? operator : `${at}.${operator}`)
  return new ApiError('INVALID_OPERATOR', `\`${parameter}\`: \`${path}\` ${message}.`, { parameter, operator: shorten(operator) })
}

/** @param known the operators that the place accepts */
export function unknownOperator(parameter: string, operator: string, known: readonly string[], at?: string): ApiError {
  const text = `is not an operator.${didYouMean(operator, known)} The operators are ${known.join(', ')}`
  return invalidOperator(parameter, operator, at, text)
}

export function limitExceeded(message: string, parameter?: string): ApiError {
  return new ApiError('LIMIT_EXCEEDED', message, parameter === undefined ? {} : { parameter })
}

export function invalidCursor(): ApiError {
  return new ApiError(
    'INVALID_CURSOR',
    'The cursor is invalid for this list or this sort order. Request the first page without a cursor.',
    {
      parameter: 'cursor',
    },
  )
}

export function invalidQuery(message: string, parameter?: string): ApiError {
  return new ApiError('INVALID_QUERY', message, parameter === undefined ? {} : { parameter })
}

export function invalidBody(message: string): ApiError {
  return new ApiError('INVALID_BODY', message)
}

/** The client disconnected, or the connection broke, while the body was read. */
export function incompleteBody(): ApiError {
  return invalidBody('The body ended before it was complete.')
}

/** @param limit in bytes */
export function payloadTooLarge(limit: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes.`, { maxBodySize: limit })
}

export type Path = readonly (string | number)[]

/** Adds the place of a child to its error: to the path of each issue, or as `data.path`, such as `comments.create[2]`. */
export function placed(error: unknown, path: Path): unknown {
  if (!(error instanceof ApiError)) return error
  const { code, issues, path: inner, ...details } = error.data as ErrorData & PlacedDetails
  if (issues) return validationFailed(issues.map(issue => ({ ...issue, path: [...path, ...issue.path] })))
  const toText = (part: Path[number]) => typeof part === 'number' ? `[${part}]` : `.${part}`
  const whole = path.map(toText).join('').replace(/^\./, '')
  const all = { ...details, path: inner === undefined ? whole : `${whole}.${inner}` }
  return Object.assign(new ApiError(code as ErrorCode, error.message, all, error.status, error.headers), { cause: error.cause })
}

interface PlacedDetails {
  readonly issues?: readonly Issue[]
  readonly path?: string
}

export function validationFailed(issues: readonly Issue[]): ApiError {
  // Reports only the first issues, so that a response is not many times larger than its request.
  const truncated = issues.length > LIMITS.issues
  return new ApiError('VALIDATION_FAILED', 'The body is not valid.', {
    issues: issues.slice(0, LIMITS.issues).map(shortIssue),
    ...truncated && { truncated },
  })
}

function shortIssue({ path, message, code }: Issue): Issue {
  const parts = path.slice(0, LIMITS.bodyDepth).map(part => typeof part === 'string' ? shorten(part) : part)
  return { path: parts, message: shorten(message, LIMITS.errorText), code }
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', `Send the body as ${accepted.join(' or ')}.`, { accepted })
}

/** A page of another site sent the write. */
export function crossSite(): ApiError {
  return new ApiError('CROSS_SITE', 'Writes from another site are refused.')
}

export function conflict(message: string, fields?: readonly string[]): ApiError {
  return new ApiError('CONFLICT', message, fields?.length ? { fields } : {})
}

/** The row changed after it was checked and before it was written. */
export function changedMeanwhile(): ApiError {
  return new ApiError('CONFLICT', 'Another request changed the record. Read it again, then retry.')
}

/** The row is visible but does not meet the condition of the write. Nothing was written. */
export function preconditionFailed(): ApiError {
  return new ApiError('PRECONDITION_FAILED', 'The record does not meet the condition of this write.')
}

/** The record is not the one whose tag the client sent. Nothing was written. */
export function tagMismatch(): ApiError {
  return new ApiError('PRECONDITION_FAILED', 'The record has changed since you read it.')
}

/** The resource requires the tag of the record in every write. */
export function preconditionRequired(): ApiError {
  return new ApiError('PRECONDITION_REQUIRED', 'Send the tag of the record: `If-Match`, or `ifMatch` of each entry of a batch.')
}

/** For a request that removes links, if deletes of the junction table require a tag. */
export function linkTagRequired(junction: string): ApiError {
  return new ApiError('PRECONDITION_REQUIRED', `Links have no tag. To remove them, delete the records of \`${junction}\` with their tags.`)
}

/** Concurrent writes made every attempt fail. Nothing was written. */
export function busy(): ApiError {
  return new ApiError('BUSY', 'Too many writes at once. Try again.', {}, undefined, { 'Retry-After': '1' })
}

const hasCode = (code: ErrorCode) => (error: unknown) => error instanceof ApiError && error.data.code === code

export const isBusy = hasCode('BUSY')
export const isLimitExceeded = hasCode('LIMIT_EXCEEDED')
export const isNotFound = hasCode('NOT_FOUND')
export const isInvalidReference = hasCode('INVALID_REFERENCE')

export function invalidReference(field?: string): ApiError {
  return new ApiError(
    'INVALID_REFERENCE',
    field === undefined ? 'A reference points to a record that does not exist.' : `\`${field}\` points to a record that does not exist.`,
    field === undefined ? {} : { field },
  )
}

/** @param seconds the time until the API accepts the next request */
export function rateLimited(seconds: number): ApiError {
  return new ApiError('RATE_LIMITED', 'Too many requests. Try again later.', { retryAfter: seconds }, undefined, {
    'Retry-After': String(seconds),
  })
}

/**
 * Whether `createError` of h3 made the error. An app can contain several copies of h3, so this does not compare classes. Errors of HTTP
 * clients can have the same name, but no `status`.
 */
export function isHttpError(error: unknown): error is Error {
  const constructor = (error as { constructor?: { __h3_error__?: boolean } } | null)?.constructor
  return constructor?.__h3_error__ === true || (error instanceof Error && error.name === 'HTTPError' && 'status' in error)
}

/** Quotes and shortens text that the client sent, for an error message. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text))
}

/** A place in a parameter, such as `filter.$or[1].title`. It contains names of the request. */
const place = (path: string) => JSON.stringify(shorten(path, LIMITS.errorText)).slice(1, -1)

/** Cuts the text at `length` characters and adds `…`. */
export function shorten(text: string, length: number = LIMITS.quotedName): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}
