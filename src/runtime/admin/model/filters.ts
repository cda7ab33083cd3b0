/** The filters of a list: their text in the URL, and the conditions that they send. */
import { isOperator, type OperatorName } from '../../shared/operators'
import type { DescribedField, DescribedResource } from '../../shared/types/description'
import type { Query } from '../../app/any-resource'

/** One condition of a list. `value` is text, as in the URL. */
export interface Filter {
  readonly field: string
  readonly operator: OperatorName
  readonly value: string
}

/** `status:$in:draft,published`. A field name has no colon. */
export const toParameter = ({ field, operator, value }: Filter): string => `${field}:${operator}:${value}`

/** Reads the filters of a URL. It leaves out what the caller cannot filter by, so that a shared link never fails as a whole. */
export function readFilters(values: unknown, { fields }: Pick<DescribedResource, 'fields'>): Filter[] {
  return [values ?? []].flat().flatMap((text): Filter[] => {
    const [, field = '', operator = '', value = ''] = /^([^:]+):([^:]+):([\s\S]*)$/.exec(String(text)) ?? []
    const known = Object.hasOwn(fields, field) ? fields[field]!.operators : []
    return isOperator(operator) && known.includes(operator) && isComplete({ field, operator, value }, fields[field]!)
      ? [{ field, operator, value }]
      : []
  })
}

/** Whether a value fits its field. The server refuses a list with a condition that does not. */
export function isComplete({ operator, value }: Filter, field: DescribedField): boolean {
  if (operator === '$null') return value === 'true' || value === 'false'
  if (operator === '$like') return value !== ''
  const values = operator === '$in' || operator === '$nin' ? toList(value) : [value]
  return values.length > 0 && values.every(one => fits(one, field))
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
  for (const { field, operator, value } of filters) {
    const convert: Convert = CONVERT[fields[field]!.kind] ?? (text => text)
    conditions[field] = { ...conditions[field], [operator]: valueOf(operator, value, convert) }
  }
  const text = search.trim()
  return {
    ...conditions,
    ...text !== '' && searchable.length > 0 && { $or: searchable.map(field => ({ [field]: { $like: `%${escape(text)}%` } })) },
  }
}

function valueOf(operator: OperatorName, value: string, convert: Convert): unknown {
  if (operator === '$null') return value === 'true'
  if (operator === '$like') return `%${escape(value)}%`
  return operator === '$in' || operator === '$nin' ? toList(value).map(convert) : convert(value)
}

/** `%` and `_` are wildcards of `$like`. */
export const escape = (text: string) => text.replace(/[\\%_]/g, character => `\\${character}`)

/** The fields in which the search looks, at most as many as the API accepts. The title of a record comes first. */
export function searchableFields({ fields }: Pick<DescribedResource, 'fields'>, title: string | undefined, most: number): string[] {
  const names = Object.keys(fields).filter(name => fields[name]!.searchable && fields[name]!.readable && !fields[name]!.enum
    && fields[name]!.operators.includes('$like') && fields[name]!.role === undefined)
  return names.sort((a, b) => Number(b === title) - Number(a === title)).slice(0, most)
}

/** The operators that a person chooses from. Dates with a time are rarely equal, and `$null` needs a field without a value. */
export function operatorsOf({ operators, nullable, kind, enum: values }: DescribedField): OperatorName[] {
  return operators.filter(name => (name !== '$null' || nullable) && (kind !== 'date' || !['$eq', '$ne', '$in', '$nin'].includes(name))
    && (!values || !['$like', '$gt', '$gte', '$lt', '$lte'].includes(name))
    && (kind !== 'boolean' || !['$in', '$nin', '$ne'].includes(name)))
}
