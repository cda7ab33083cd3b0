/** The descriptions of export and import. */
import type { ParameterDescription, RouteDescription } from '../../shared/types/openapi'
import { objectOf, text, whole } from '../../server/plugin/description'
import { FORMAT_FACTS, type Format } from './server/formats'

const OF_CSV: Readonly<Record<string, ParameterDescription>> = {
  separator: { description: 'The separator of a CSV file.', schema: { type: 'string', enum: [',', ';', 'tab'] } },
  formulas: { description: '`keep` keeps text that a spreadsheet would run as a formula.', schema: { type: 'string', enum: ['keep'] } },
}

export const OF_EXPORT: Readonly<Record<string, ParameterDescription>> = {
  bom: { description: 'Whether a CSV file begins with a byte order mark.', schema: { type: 'boolean' } },
  ...OF_CSV,
}

/** An export has the parameters of a list, without those of a page. */
export function describeExport(formats: readonly Format[]): RouteDescription {
  const types = formats.filter(format => format !== 'json').map(format => FORMAT_FACTS[format].mediaType)
  return {
    summary: 'Export the list as a file',
    query: {
      format: { description: 'The format of the file.', schema: { type: 'string', enum: formats } },
      ...OF_EXPORT, page: false, limit: false, cursor: false, count: false, cursorFields: false,
    },
    responses: { 200: { types, ...formats.includes('json') && { schema: { type: 'array', items: { type: 'object' } } } } },
    errors: { BUSY: 503 },
  }
}

export const DESCRIBE_LIST_EXPORT: RouteDescription = { summary: 'Export the list as a file', query: OF_EXPORT }

export const DESCRIBE_IMPORT: RouteDescription = {
  summary: 'Import a file',
  query: {
    mode: { description: 'Whether records with a known key are updated.', schema: { type: 'string', enum: ['create', 'upsert'] } },
    key: { description: 'The fields that identify a record, separated by commas. Only for `mode=upsert`.', schema: text },
    ...OF_CSV,
  },
  responses: { 200: { schema: objectOf({ data: objectOf({ created: whole, updated: whole }), meta: objectOf({ total: whole }) }) } },
  errors: { BULK_FAILED: 400, PAYLOAD_TOO_LARGE: 413, UNSUPPORTED_MEDIA_TYPE: 415, BUSY: 503 },
}
