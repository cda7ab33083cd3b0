/** The components that do not belong to a resource: schemas of responses, and parameters that many operations have. */
import type { DescribedLimits, JsonSchema } from '../../../../shared/types/description'
import type { Parameter, Reference } from './model'

const integer: JsonSchema = { type: 'integer' }
const string: JsonSchema = { type: 'string' }
const boolean: JsonSchema = { type: 'boolean' }

function object(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = Object.keys(properties)): JsonSchema {
  return { type: 'object', properties, ...required.length > 0 && { required } }
}

const CAPABILITIES = ['canRead', 'canCreate', 'canUpdate', 'canDelete', 'canAggregate', 'canRestore', 'canPurge', 'canViewDeleted']
const ofField = object({ canRead: boolean, canWrite: boolean })
const ofRecord = object({ canRead: boolean, canUpdate: boolean, canDelete: boolean })

const failure = object({
  index: integer, id: { type: ['string', 'number'] }, statusCode: integer, message: string, code: string,
  issues: { type: 'array', items: { type: 'object' } }, truncated: boolean,
}, ['index', 'statusCode', 'message'])

export const SHARED_SCHEMAS = {
  'api.error': {
    ...object({
      statusCode: integer,
      statusMessage: string,
      message: string,
      data: { ...object({ code: string }, []), description: '`code` identifies the error. Other keys describe it.' },
    }, ['message']),
  },
  'api.problem': {
    ...object({ type: string, title: string, status: integer, detail: string, code: string }, ['type', 'title', 'status', 'detail']),
    description: 'Problem details (RFC 9457), if the request accepts them. They have the keys of `data` of the other form.',
  },
  'api.listMeta': {
    ...object({
      page: integer, limit: integer, total: integer, hasMore: boolean, nextCursor: { type: ['string', 'null'] },
      totalIsMore: boolean, totalIsEstimated: boolean, aggregates: { type: 'object' },
    }, ['limit']),
    description: 'A page by number has `page` and `total`. A page by cursor has `nextCursor`, which is null on the last page.',
  },
  'api.deletion': object({ success: boolean, softDeleted: boolean, deletionId: string }, ['success', 'softDeleted']),
  'api.affected': {
    ...object({ affected: { type: 'object', additionalProperties: integer }, affectedIsMore: boolean, confirm: string }, ['affected']),
    description: 'The result of a dry run: the number of records by resource that the write would change.',
  },
  'api.bulkMeta': object(
    { total: integer, successful: integer, failed: integer, created: integer, updated: integer, errors: { type: 'array', items: failure } },
    ['total', 'successful', 'failed'],
  ),
  'api.bulkDeletion': object({ id: { type: ['string', 'number'] }, deleted: boolean, softDeleted: boolean, deletionId: string },
    ['id', 'deleted', 'softDeleted']),
  'api.links': object({ added: integer, removed: integer, total: integer }),
  'api.capabilities': object({
    ...Object.fromEntries(CAPABILITIES.map(name => [name, boolean])),
    fields: { type: 'object', additionalProperties: ofField },
    records: { type: 'object', additionalProperties: ofRecord },
  }, [...CAPABILITIES, 'fields']),
} as const satisfies Readonly<Record<string, JsonSchema>>

export type SharedSchema = keyof typeof SHARED_SCHEMAS

const flag = (name: string, description: string): Parameter => ({ name, in: 'query', description, schema: boolean })

/** The parameters that many operations have, by the name of their component. */
export function sharedParameters({ pagination }: DescribedLimits) {
  return {
    page: { name: 'page', in: 'query', description: 'The number of the page.', schema: { type: 'integer', minimum: 1 } },
    limit: {
      name: 'limit', in: 'query', description: `The number of records. More than ${pagination.maxLimit} become ${pagination.maxLimit}.`,
      schema: { type: 'integer', minimum: 1, default: pagination.defaultLimit },
    },
    cursor: { name: 'cursor', in: 'query', description: '`nextCursor` of the page before. Empty for the first page.', schema: string },
    count: {
      name: 'count', in: 'query', description: 'How the total is counted.',
      schema: { type: 'string', enum: ['exact', 'none', 'estimated'], default: 'exact' },
    },
    includeDeleted: flag('includeDeleted', 'Whether the response also contains records in the trash.'),
    onlyDeleted: flag('onlyDeleted', 'Whether the response contains only records in the trash.'),
    dryRun: flag('dryRun', 'Whether the write is checked and rolled back. Values that the database generates can be absent.'),
    ifMatch: { name: 'If-Match', in: 'header', description: 'The entity tag of the record that the write expects.', schema: string },
    ifMatchRequired: {
      name: 'If-Match', in: 'header', required: true, description: 'The entity tag of the record that the write expects.', schema: string,
    },
    ifNoneMatch: {
      name: 'If-None-Match', in: 'header', description: 'The entity tag that the client has. An equal tag is a 304.', schema: string,
    },
    idempotencyKey: {
      name: 'Idempotency-Key', in: 'header', schema: { type: 'string', minLength: 1, maxLength: 255 },
      description: 'Makes a retry safe: a request with this key takes effect once.',
    },
  } satisfies Readonly<Record<string, Parameter>>
}

export type SharedParameter = keyof ReturnType<typeof sharedParameters>

export const parameterRef = (name: SharedParameter): Reference => ({ $ref: `#/components/parameters/${name}` })
