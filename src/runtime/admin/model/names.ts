/** The request for the names of many records of a resource, and the names of its response. */
import type { DescribedResource } from '../../shared/types/description'
import type { RecordId } from '../../shared/types/resources'
import type { Query, Row } from '../../app/any-resource'
import { isComplete } from './filters'
import { idOfRow, labelFields, labelOf, titleField } from './records'

/**
 * Returns the query of the list that has the names of records. `undefined` if there are none, or the API does not find them by their keys.
 * @param label the field with the name, if it is not the usual one
 */
export function namesRequest(resource: DescribedResource, ids: readonly RecordId[], max = 100, label?: string): Query | undefined {
  const { primaryKey: [key, ...others], fields, capabilities: { canRead, canViewDeleted } } = resource
  if (key === undefined || others.length > 0 || !canRead || (label ?? titleField(resource)) === undefined) return undefined
  const { kind, readable, operators } = fields[key]!
  if (!readable || !operators.includes('$in')) return undefined
  const known = [...new Set(ids.map(String))].filter(value => isComplete({ field: key, operator: '$eq', value }, fields[key]!)).sort()
  const values = known.slice(0, max).map(id => kind === 'integer' || kind === 'number' ? Number(id) : id)
  return values.length === 0
    ? undefined
    : {
        fields: [...new Set([...labelFields(resource), ...label === undefined ? [] : [label]])],
        filter: { [key]: { $in: values } },
        ...canViewDeleted && { includeDeleted: true },
        limit: values.length, page: 1, count: 'none',
      }
}

/** Returns the names of the records of a response by their ids. */
export function namesOf(resource: DescribedResource, rows: readonly Row[], label?: string): ReadonlyMap<string, string> {
  return new Map(rows.map((row) => {
    const text = label === undefined ? undefined : row[label]
    return [String(idOfRow(resource, row)), typeof text === 'string' && text !== '' ? text : labelOf(resource, row)]
  }))
}
