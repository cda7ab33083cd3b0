/** The error responses of operations: their statuses and their codes. */
import { STATUS_TEXT } from '../../../../shared/error-codes'
import type { DocumentFacts, Reference, Response } from './model'
import { refTo } from './names'

/** Operations with the same errors share their responses. */
export type ErrorKind = 'read' | 'record' | 'create' | 'change' | 'bulk' | 'route'

type Codes = Readonly<Record<number, readonly string[]>>

const CALLER: Codes = { 401: ['UNAUTHENTICATED', 'INVALID_TOKEN', 'TENANT_REQUIRED'], 403: ['FORBIDDEN', 'TENANT_REQUIRED'] }

const QUERY = [
  'INVALID_QUERY', 'INVALID_VALUE', 'UNKNOWN_FIELD', 'UNKNOWN_RELATION', 'INVALID_OPERATOR', 'INVALID_CURSOR', 'LIMIT_EXCEEDED',
]
const BODY = ['INVALID_BODY', 'VALIDATION_FAILED', 'INVALID_REFERENCE', 'INVALID_VALUE', 'INVALID_QUERY', 'UNKNOWN_FIELD', 'LIMIT_EXCEEDED']

const READ: Codes = { ...CALLER, 400: QUERY }

const CREATE: Codes = {
  400: BODY,
  401: [...CALLER[401]!, 'FIELD_FORBIDDEN'],
  403: [...CALLER[403]!, 'FIELD_FORBIDDEN', 'CROSS_SITE'],
  409: ['CONFLICT'],
  413: ['PAYLOAD_TOO_LARGE'],
  415: ['UNSUPPORTED_MEDIA_TYPE'],
  503: ['BUSY'],
}

const NOT_FOUND = ['NOT_FOUND', 'UNKNOWN_RELATION']

const CHANGE: Codes = { ...CREATE, 404: NOT_FOUND, 412: ['PRECONDITION_FAILED'], 428: ['PRECONDITION_REQUIRED'] }

const CODES: Readonly<Record<ErrorKind, Codes>> = {
  read: READ,
  record: { ...READ, 404: NOT_FOUND },
  create: CREATE,
  change: CHANGE,
  // A batch without any success has the status of its first failure.
  bulk: Object.fromEntries(Object.entries(CHANGE).map(([status, codes]) => [status, [...codes, 'BULK_FAILED']])),
  route: {
    400: [...new Set([...QUERY, ...BODY, 'DRY_RUN_UNSUPPORTED'])],
    401: CREATE[401]!, 403: CREATE[403]!, 404: NOT_FOUND, 409: ['CONFLICT'], 412: ['PRECONDITION_FAILED'],
  },
}

const BEYOND: Codes = { 422: ['IDEMPOTENCY_MISMATCH'], 429: ['RATE_LIMITED'] }

const WRITES: ReadonlySet<ErrorKind> = new Set(['create', 'change', 'bulk'])

function codesOf(kind: ErrorKind, { hasIdempotency, hasRateLimit }: DocumentFacts): Codes {
  const added = Object.entries(BEYOND).filter(([status]) => status === '429' ? hasRateLimit : hasIdempotency && WRITES.has(kind))
  return { ...CODES[kind], ...Object.fromEntries(added) }
}

function toResponse(status: number, codes: readonly string[]): Response {
  return {
    'description': `${STATUS_TEXT[status] ?? 'Error'}: ${codes.map(code => `\`${code}\``).join(', ')}`,
    'content': { 'application/json': { schema: refTo('api.error') }, 'application/problem+json': { schema: refTo('api.problem') } },
    'x-codes': codes,
  }
}

const nameOf = (kind: ErrorKind, status: string) => `${kind}.${status}`

/** All error responses, by the name of their component. */
export function errorComponents(facts: DocumentFacts): Readonly<Record<string, Response>> {
  const named = (Object.keys(CODES) as ErrorKind[]).flatMap(kind =>
    Object.entries(codesOf(kind, facts)).map(([status, codes]) => [nameOf(kind, status), toResponse(Number(status), codes)] as const))
  return {
    ...Object.fromEntries(named),
    error: {
      description: 'Another error. Errors of the app have their own codes.',
      content: { 'application/json': { schema: refTo('api.error') }, 'application/problem+json': { schema: refTo('api.problem') } },
    },
  }
}

/** @param own further codes with their status */
export function errorResponses(
  kind: ErrorKind, facts: DocumentFacts, own: Readonly<Record<string, number>> = {},
): Readonly<Record<string, Response | Reference>> {
  const codes = codesOf(kind, facts)
  const refs = Object.keys(codes).map(status => [status, { $ref: `#/components/responses/${nameOf(kind, status)}` }] as const)
  const added = [...new Set(Object.values(own))].map((status) => {
    const named = Object.keys(own).filter(code => own[code] === status)
    return [String(status), toResponse(status, [...codes[status] ?? [], ...named])] as const
  })
  return { ...Object.fromEntries([...refs, ...added]), default: { $ref: '#/components/responses/error' } }
}
