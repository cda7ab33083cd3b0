/** The filters of a list: their text in the URL, and the conditions that they send. */
import { isOperator, type OperatorName } from '../../shared/operators'
import type { DescribedField, DescribedResource } from '../../shared/types/description'
import type { Query } from '../../app/any-resource'

/** One condition of a list. `value` is text, as in the URL. */
export interface Filter {
  readonly field: string
  readonly operator: OperatorName
  readonly value: string
  /** Whether it is an alternative to the filter before it. */
  readonly or?: true
}

/** `status:$in:draft,published`, or `or:status:$in:draft` for an alternative. A field name has no colon. */
export const toParameter = ({ field, operator, value, or }: Filter): string => `${or ? 'or:' : ''}${field}:${operator}:${value}`

/**
 * Reads the filters of a URL. It leaves out what the caller cannot filter by, so that a shared link never fails as a whole: also all
 * alternatives, if the API has no groups.
 */
export function readFilters(values: unknown, { fields }: Pick<DescribedResource, 'fields'>, hasGroups = true): Filter[] {
  const filters = [values ?? []].flat().flatMap((text): Filter[] => {
    const [, or, field = '', operator = '', value = ''] = /^(or:(?!\$))?([^:]+):([^:]+):([\s\S]*)$/.exec(String(text)) ?? []
    const known = Object.hasOwn(fields, field) ? fields[field]!.operators : []
    return isOperator(operator) && known.includes(operator) && isComplete({ field, operator, value }, fields[field]!)
      ? [{ field, operator, value, ...or !== undefined && { or: true } }]
      : []
  })
  return withFirst(hasGroups ? filters : filters.filter((filter, index) => !filter.or && !filters[index + 1]?.or))
}

/** The first filter is no alternative. */
const withFirst = ([first, ...rest]: readonly Filter[]): Filter[] => first ? [withoutOr(first), ...rest] : []

const withoutOr = ({ field, operator, value }: Filter): Filter => ({ field, operator, value })

/** The filters in groups of alternatives. */
export function groupsOf(filters: readonly Filter[]): Filter[][] {
  const groups: Filter[][] = []
  for (const filter of filters) {
    if (filter.or && groups.length > 0) groups.at(-1)!.push(filter)
    else groups.push([filter])
  }
  return groups
}

/** Adds a filter: an alternative to another one, or a condition of its own, which replaces one with the same field and operator. */
export function addFilter(filters: readonly Filter[], added: Filter, besides?: Filter): Filter[] {
  const groups = groupsOf(filters)
  if (besides) return groups.flatMap(group => group.includes(besides) ? [...group, { ...added, or: true }] : group)
  const isSame = ([first, ...rest]: readonly Filter[]) =>
    rest.length === 0 && first!.field === added.field && first!.operator === added.operator
  return [...groups.filter(group => !isSame(group)).flat(), added]
}

/** Removes a filter. The next alternative takes its place. */
export const removeFilter = (filters: readonly Filter[], removed: Filter): Filter[] =>
  groupsOf(filters).flatMap(group => withFirst(group.filter(filter => filter !== removed)))

/** The operators that search text. */
const TEXT: ReadonlySet<OperatorName> = new Set(['$like', '$notLike', '$startsWith', '$endsWith', '$contains', '$eqi'])
/** The operators with several values, with commas in the URL. */
const LISTS: ReadonlySet<OperatorName> = new Set(['$in', '$nin', '$between'])

/** Whether a value fits its field. The server refuses a list with a condition that does not. */
export function isComplete({ operator, value }: Filter, field: DescribedField): boolean {
  if (operator === '$null') return value === 'true' || value === 'false'
  if (TEXT.has(operator)) return value !== ''
  const values = LISTS.has(operator) ? toList(value) : [value]
  return values.length > 0 && (operator !== '$between' || values.length === 2) && values.every(one => fits(one, field))
}

const PATTERNS: Partial<Record<DescribedField['kind'], RegExp>> = {
  integer: /^-?\d{1,15}$/,
  number: /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i,
  bigint: /^-?\d{1,19}$/,
  decimal: /^-?\d+(?:\.\d+)?$/,
  boolean: /^(?:true|false)$/,
}

function fits(value: string, { kind, enum: values }: DescribedField): boolean {
  if (values) return values.includes(value)
  if (kind === 'date') return !Number.isNaN(Date.parse(value))
  return PATTERNS[kind]?.test(value) ?? value !== ''
}

const toList = (value: string) => value.split(',').map(one => one.trim()).filter(Boolean)

type Convert = (value: string) => unknown
const CONVERT: Partial<Record<DescribedField['kind'], Convert>> = {
  integer: Number,
  number: Number,
  boolean: value => value === 'true',
  date: value => new Date(value).toISOString(),
}

/** Returns the parameter `filter` of a list: the conditions, and the text that one of the searchable fields contains. */
export function toFilter(
  filters: readonly Filter[], search: string, searchable: readonly string[], { fields }: Pick<DescribedResource, 'fields'>,
): Query | undefined {
  const conditions: Record<string, Record<string, unknown>> = {}
  const toCondition = ({ field, operator, value }: Filter) =>
    ({ [operator]: valueOf(operator, value, CONVERT[fields[field]!.kind] ?? (text => text)) })
  const alternatives: object[] = []
  for (const [first, ...rest] of groupsOf(filters)) {
    const { field } = first!
    if (rest.length > 0) alternatives.push({ $or: [first!, ...rest].map(one => ({ [one.field]: toCondition(one) })) })
    else conditions[field] = { ...conditions[field], ...toCondition(first!) }
  }
  const text = search.trim()
  return {
    ...conditions,
    ...alternatives.length > 0 && { $and: alternatives },
    ...text !== '' && searchable.length > 0 && { $or: searchable.map(field => ({ [field]: { $like: `%${escape(text)}%` } })) },
  }
}

function valueOf(operator: OperatorName, value: string, convert: Convert): unknown {
  if (operator === '$null') return value === 'true'
  if (operator === '$like' || operator === '$notLike') return `%${escape(value)}%`
  return LISTS.has(operator) ? toList(value).map(convert) : convert(value)
}

/** `%` and `_` are wildcards of `$like`. */
export const escape = (text: string) => text.replace(/[\\%_]/g, character => `\\${character}`)

/** The fields in which the search looks, at most as many as the API accepts, and no lazy ones. The title of a record comes first. */
export function searchableFields({ fields }: Pick<DescribedResource, 'fields'>, title: string | undefined, most: number): string[] {
  const names = Object.keys(fields).filter((name) => {
    const { searchable, readable, lazy, enum: values, operators, role } = fields[name]!
    return searchable && readable && !lazy && !values && operators.includes('$like') && role === undefined
  })
  return names.sort((a, b) => Number(b === title) - Number(a === title)).slice(0, most)
}

/** Operators that say the same as others of the form: `$like` of the admin has no wildcards, and a range is two conditions. */
const SAME: ReadonlySet<OperatorName> = new Set(['$contains', '$between'])

/** The operators that a person chooses from. Dates with a time are rarely equal, and `$null` needs a field without a value. */
export function operatorsOf({ operators, nullable, kind, enum: values }: DescribedField): OperatorName[] {
  return operators.filter(name => !SAME.has(name) && (name !== '$null' || nullable)
    && (kind !== 'date' || !['$eq', '$ne', '$in', '$nin'].includes(name))
    && (!values || !(TEXT.has(name) || ['$gt', '$gte', '$lt', '$lte'].includes(name)))
    && (kind !== 'boolean' || !['$in', '$nin', '$ne'].includes(name)))
}
