/** The filters that a list offers as menus: the values of enums, and yes or no. They are the same filters as those of the URL. */
import type { OperatorName } from '../../shared/operators'
import type { DescribedField, DescribedResource } from '../../shared/types/description'
import { addFilter, groupsOf, removeFilter, type Filter } from './filters'

export interface QuickField {
  readonly name: string
  /** The operator of the filter. `$in` accepts several values. */
  readonly operator: '$in' | '$eq'
  readonly values: readonly string[]
  /** Whether several values can be selected. Yes or no is one. */
  readonly several: boolean
}

const MOST_FIELDS = 3
const MOST_VALUES = 30
const OPERATORS: readonly OperatorName[] = ['$in', '$eq']

/** Returns up to three fields, enums first. */
export function quickFields({ fields }: Pick<DescribedResource, 'fields'>): QuickField[] {
  return Object.entries(fields)
    .flatMap(([name, field]) => toQuickField(name, field) ?? [])
    .sort((a, b) => Number(fields[b.name]!.enum !== undefined) - Number(fields[a.name]!.enum !== undefined))
    .slice(0, MOST_FIELDS)
}

function toQuickField(name: string, { enum: values, kind, operators, readable }: DescribedField): QuickField | undefined {
  if (!readable || (!values && kind !== 'boolean')) return undefined
  const operator = OPERATORS.filter(one => operators.includes(one)).at(values ? 0 : -1) as QuickField['operator'] | undefined
  if (operator === undefined) return undefined
  if (!values) return { name, operator, values: ['true', 'false'], several: false }
  // A comma separates the values of a filter.
  const isListed = values.length > 1 && values.length <= MOST_VALUES && values.every(value => !value.includes(','))
  return isListed ? { name, operator, values, several: operator === '$in' } : undefined
}

/** Returns the filter that the menu of a field shows and changes: the first one without alternatives. */
export const quickFilterOf = (filters: readonly Filter[], { name }: Pick<QuickField, 'name'>): Filter | undefined =>
  groupsOf(filters).find(([first, ...rest]) => rest.length === 0 && first!.field === name && OPERATORS.includes(first!.operator))?.[0]

export const quickValues = (filter: Filter | undefined): string[] => filter?.value.split(',') ?? []

/** Selects a value or removes it. Without a value, the filter is removed. */
export function toggleQuickValue(filters: readonly Filter[], field: QuickField, value: string): Filter[] {
  const filter = quickFilterOf(filters, field)
  const before = quickValues(filter)
  const added = field.several ? [...before, value] : [value]
  const toggled = before.includes(value) ? before.filter(one => one !== value) : added
  // In the order of the menu, so that the same choice has the same URL.
  const after = field.values.filter(one => toggled.includes(one))
  if (after.length === 0) return filter ? removeFilter(filters, filter) : [...filters]
  const next: Filter = { field: field.name, operator: field.operator, value: after.join() }
  return filter ? filters.map(one => one === filter ? next : one) : addFilter(filters, next)
}
