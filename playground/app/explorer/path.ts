/** Converts a draft to the path of its request. */
import type { FieldView } from '../resources'
import type { Draft, Includes } from './draft'
import { toValue } from './operators'

/** @param fields the fields of the resource, whose kinds decide how values are written */
export function toPath(draft: Draft, fields: Readonly<Record<string, FieldView>>): string {
  const grouped = draft.groupBy.length > 0
  const parameters = {
    fields: grouped ? '' : draft.fields.join(','),
    filter: toFilter(draft, fields),
    sort: draft.sort.map(({ field, descending }) => (descending ? '-' : '') + field).join(','),
    include: grouped ? '' : toInclude(draft.include),
    counts: grouped ? '' : draft.counts.join(','),
    aggregate: draft.aggregates.map(({ function: name, field }) => field ? `${name}(${field})` : name).join(','),
    groupBy: draft.groupBy.join(','),
    includeDeleted: draft.trash === 'with' ? 'true' : '',
    onlyDeleted: draft.trash === 'only' ? 'true' : '',
    ...toPaging(draft, grouped),
  }
  const query = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || (value === '' && name !== 'cursor') ? [] : [`${name}=${encode(value)}`],
  )
  // Groups have their own route, which needs only the permission to aggregate.
  return `/api/${draft.resource}${grouped ? '/aggregate' : ''}?${query.join('&')}`
}

function toPaging({ paging, page, cursor, limit, counted }: Draft, grouped: boolean): Record<string, string> {
  if (grouped)
    return { page: String(page), limit: String(limit) }
  return paging === 'cursor'
    ? { cursor, limit: String(limit) }
    : { page: String(page), limit: String(limit), count: counted ? '' : 'none' }
}

/** Field → its conditions. */
type Fields = Record<string, Record<string, unknown>>

/** All conditions in one object, or one object per condition in `$or`. */
function toFilter({ conditions, match }: Draft, fields: Readonly<Record<string, FieldView>>): string {
  const each = conditions.map<Fields>(({ field, operator, value }) => ({
    [field]: { [operator]: toValue(value, fields[field]!, operator) },
  }))
  if (each.length === 0)
    return ''
  return JSON.stringify(match === 'any' && each.length > 1 ? { $or: each } : each.reduce(merge))
}

/** Several conditions on one field share its object: `{ views: { $gte: 10, $lt: 20 } }`. */
function merge(left: Fields, right: Fields): Fields {
  return { ...left, ...Object.fromEntries(Object.entries(right).map(([field, condition]) => [field, { ...left[field], ...condition }])) }
}

/** `author,comments.author`, or JSON if a relation has a limit. */
function toInclude(include: Includes): string {
  const paths = toPaths(include)
  return hasLimit(include) ? JSON.stringify(toTree(include)) : paths.join(',')
}

function toPaths(include: Includes): string[] {
  return Object.entries(include).flatMap(([name, node]) => {
    const deeper = toPaths(node.include)
    return deeper.length > 0 ? deeper.map(path => `${name}.${path}`) : [name]
  })
}

function hasLimit(include: Includes): boolean {
  return Object.values(include).some(node => node.limit > 0 || hasLimit(node.include))
}

function toTree(include: Includes): Record<string, unknown> {
  return Object.fromEntries(Object.entries(include).map(([name, node]) => [name, {
    ...node.limit > 0 && { limit: node.limit },
    ...Object.keys(node.include).length > 0 && { include: toTree(node.include) },
  }]))
}

/** Escapes only the necessary characters, so that the path stays readable. */
function encode(value: string): string {
  return encodeURIComponent(value).replace(/%(?:2C|3A|24|7B|7D|5B|5D|22)/g, decodeURIComponent)
}
