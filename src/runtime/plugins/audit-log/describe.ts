/** The descriptions of the routes of the audit log. */
import type { JsonSchema } from '../../shared/types/description'
import type { ParameterDescription, RouteDescription } from '../../shared/types/openapi'
import { objectOf, PAGE_PARAMETERS, pageOf, text, textOrNull } from '../../server/plugin/description'

const values: JsonSchema = { type: ['object', 'null'] }

/** A reader gets only the fields of an entry that the reader can read. */
const ENTRY = objectOf({
  id: text, at: { type: 'string', format: 'date-time' }, kind: text, resource: text, recordId: textOrNull, rootId: textOrNull,
  userId: textOrNull, tokenId: textOrNull, via: textOrNull, tenantId: textOrNull, requestId: textOrNull, ip: textOrNull,
  columns: { type: ['array', 'null'], items: text }, before: values, after: values, reason: textOrNull,
}, ['id'])

const OF_RECORD: Readonly<Record<string, ParameterDescription>> = {
  userId: { description: 'The user who made the change.' },
  kind: { description: 'The kind of the change, such as `update`.' },
  from: { description: 'Entries at or after this time.', schema: { type: 'string', format: 'date-time' } },
  to: { description: 'Entries before this time.', schema: { type: 'string', format: 'date-time' } },
}

export const DESCRIBE_LOG: RouteDescription = {
  summary: 'Audit log',
  query: {
    resource: { description: 'The resource of the record.' }, recordId: { description: 'The id of the record.' },
    ...OF_RECORD, ...PAGE_PARAMETERS,
  },
  responses: { 200: { schema: pageOf(ENTRY) } },
}

export const DESCRIBE_HISTORY: RouteDescription = {
  summary: 'History of a record', query: { ...OF_RECORD, ...PAGE_PARAMETERS }, responses: { 200: { schema: pageOf(ENTRY) } },
}

export const DESCRIBE_REVERT: RouteDescription = {
  summary: 'Revert a record to an entry of the audit log',
  description: 'An ordinary update of the columns that have changed since the entry. The response is the record.',
  headers: { 'If-Match': { description: 'The entity tag of the record that the write expects.' } },
  responses: { 200: { schema: { type: 'object' } } },
  errors: { FIELD_FORBIDDEN: 403, PRECONDITION_REQUIRED: 428 },
}
