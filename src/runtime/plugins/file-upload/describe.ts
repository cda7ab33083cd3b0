/** The descriptions of the routes of a file column, and which callers their documents are for. */
import type { DescribedResource } from '../../shared/types/description'
import type { DescribeRoute } from '../../shared/types/openapi'
import { type AutoApiContext, callFor, requireSession, refusedFields } from '../../server/kit/call'
import { operationId } from '../../server/plugin/description'
import type { FileField } from './options'

const ERRORS = { IMAGE_TOO_LARGE: 400, PAYLOAD_TOO_LARGE: 413, UNSUPPORTED_MEDIA_TYPE: 415, PRECONDITION_REQUIRED: 428 }
const IF_MATCH = { 'If-Match': { description: 'The entity tag of the record that the write expects.' } }

/** A file of a list has its key at the end of the path. */
const idOf = ({ resource, field }: FileField, action: string, end = '') =>
  operationId(resource, field, end === '' ? action : `${action}-by-key`)

export function describeUpload(fileField: FileField): DescribeRoute {
  const { field, maxSize } = fileField
  return ({ record }) => ({
    operationId: idOf(fileField, 'upload'),
    summary: `Upload a file: ${field}`,
    description: `A file of at most ${maxSize} bytes, as the body or as the only file of a form. The response is the record.`,
    query: { name: { description: 'The name of a file that is the body.' } },
    headers: IF_MATCH,
    responses: { 200: { schema: record } },
    errors: ERRORS,
  })
}

export function describeServe(fileField: FileField, end: string): DescribeRoute {
  const { field, accepted } = fileField
  const types = [...new Set([...accepted.map(({ type }) => type), 'application/octet-stream'])]
  return {
    operationId: idOf(fileField, 'get', end),
    summary: `Get a file: ${field}`,
    query: { download: { description: 'Whether browsers save the file instead of showing it.', schema: { type: 'boolean' } } },
    headers: {
      'Range': { description: 'The bytes to send.' },
      'If-None-Match': { description: 'The entity tag that the client has. An equal tag is a 304.' },
    },
    responses: {
      200: { description: 'The file.', types }, 206: { description: 'A part of the file.', types },
      304: { description: 'The client has this file.' },
    },
    errors: { RANGE_NOT_SATISFIABLE: 416 },
  }
}

export function describeRemove(fileField: FileField, end: string): DescribeRoute {
  return ({ record }) => ({
    operationId: idOf(fileField, 'remove', end), summary: `Remove a file: ${fileField.field}`,
    headers: IF_MATCH, responses: { 200: { schema: record } }, errors: { PRECONDITION_REQUIRED: 428 },
  })
}

/** A caller who cannot read the field gets 404 for its files. */
export const canReadField = ({ field }: FileField) => (_: AutoApiContext, described: DescribedResource | undefined) =>
  described?.fields[field]?.readable === true

/** No body can set the field, so the description of the resource does not say whether a rule refuses the caller. */
export const canWriteField = ({ resource: name, field }: FileField) => async (ctx: AutoApiContext): Promise<boolean> => {
  const session = requireSession(ctx)
  const resource = session.api.resources.get(name)!
  const call = callFor(session, resource, 'update')
  return !(await refusedFields(call, resource, 'write')).has(field)
}
