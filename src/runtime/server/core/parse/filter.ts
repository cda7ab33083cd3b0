/** Parses `filter`, as JSON or in brackets, into conditions. It does not resolve field names, and it does not convert values. */
import { isObject } from '../../../shared/is-object'
import { LIMITS } from '../../../shared/limits'
import { isOperator, OPERATORS, type OperatorName } from '../../../shared/operators'
import { invalidOperator, invalidQuery, invalidValue, limitExceeded, quote } from '../error'
import { toJson, type Query } from './params'

export interface FilterCondition {
  readonly name: string
  readonly operator: OperatorName
  readonly value: unknown
  /** Whether the value is text of the query string instead of JSON. The type of the column determines how this text is converted. */
  readonly text: boolean
}

/** Conditions on the related rows. A row matches if at least one of its related rows meets all of them. */
export interface RelationFilter {
  readonly relation: string
  readonly conditions: readonly FilterEntry[]
}

/** A row must meet all conditions of at least one branch or, with `not`, of none. */
export interface FilterBranches {
  readonly branches: readonly (readonly FilterEntry[])[]
  readonly not?: true
}

export type FilterEntry = FilterCondition | RelationFilter | FilterBranches

/** A row must meet all of them. */
export type Filter = readonly FilterEntry[]

export const isRelationFilter = (entry: FilterEntry): entry is RelationFilter => 'relation' in entry
export const isBranches = (entry: FilterEntry): entry is FilterBranches => 'branches' in entry

/** Returns the conditions on fields of all branches, and those on related rows. */
export function conditionsOf(filter: Filter): readonly FilterCondition[] {
  return filter.flatMap((entry) => {
    if (isBranches(entry)) return entry.branches.flatMap(conditionsOf)
    return isRelationFilter(entry) ? conditionsOf(entry.conditions) : [entry]
  })
}

const NONE: Filter = Object.freeze([])

export function parseFilter(query: Query): Filter {
  const text = query.filter
  const brackets = Object.keys(query).filter(key => key.startsWith('filter['))
  if (text === undefined) return brackets.length === 0 ? NONE : toFilter(fromBrackets(query, brackets), 'filter', true)
  if (Array.isArray(text)) throw invalidQuery('`filter` is given more than once.', 'filter')
  if (brackets.length > 0) throw invalidQuery('`filter` is either JSON or written in brackets, not both.', 'filter')
  return toFilter(toJson(text, 'filter'), 'filter', false)
}

/** @param text whether the values are text of a query string. */
export function toFilter(value: unknown, parameter: string, text = false): Filter {
  if (!isObject(value)) throw invalidQuery(`\`${parameter}\` is not an object of conditions.`, parameter)
  const { $or, ...rest } = value
  const filter = toConditions(rest, parameter, text)
  if (Object.hasOwn(value, '$or')) filter.push({ branches: toBranches($or, parameter, text) })
  if (conditionsOf(filter).length > LIMITS.conditions)
    throw limitExceeded(`\`${parameter}\` holds more than ${LIMITS.conditions} conditions.`, parameter)
  return filter
}

function toBranches(value: unknown, parameter: string, text: boolean): (readonly FilterEntry[])[] {
  const branches = text && isObject(value) ? Object.values(value) : value
  if (!Array.isArray(branches) || branches.length === 0)
    throw invalidQuery(`\`${parameter}\`: \`$or\` is a list of objects of conditions.`, parameter)
  if (branches.length > LIMITS.or) throw limitExceeded(`\`${parameter}\`: \`$or\` has more than ${LIMITS.or} branches.`, parameter)
  return branches.map((branch) => {
    const conditions = isObject(branch) ? toConditions(branch, parameter, text) : []
    if (conditions.length === 0) throw invalidQuery(`\`${parameter}\`: every branch of \`$or\` is an object of conditions.`, parameter)
    return conditions
  })
}

/** Only the schema knows the relations. Here, an object without operators contains conditions on the rows of a relation. */
function toConditions(object: Record<string, unknown>, parameter: string, text: boolean): FilterEntry[] {
  return Object.entries(object).flatMap(([name, value]): FilterEntry[] => {
    if (name.startsWith('$')) throw invalidOperator(parameter, name)
    if (Array.isArray(value)) return [{ name, operator: '$in', value, text }]
    if (!isObject(value)) return [{ name, operator: '$eq', value, text }]
    const operators = Object.entries(value)
    if (operators.length === 0) throw invalidValue(parameter, `${quote(name)} has no operator.`)
    if (!operators.some(([operator]) => operator.startsWith('$')))
      return [{ relation: name, conditions: toConditions(value, parameter, text) }]
    const unknown = operators.find(([operator]) => operator.startsWith('$') && !isOperator(operator))
    if (unknown) throw invalidOperator(parameter, unknown[0])
    // A name beside operators is not an operator either.
    return operators.map(([operator, value]) => toCondition(name, operator, value, parameter, text))
  })
}

function toCondition(name: string, operator: string, value: unknown, parameter: string, text: boolean): FilterCondition {
  if (!isOperator(operator)) throw invalidOperator(parameter, operator)
  // The characters of patterns are counted before the column is known.
  if (OPERATORS[operator].value === 'pattern' && typeof value !== 'string')
    throw invalidValue(parameter, `${operator} of ${quote(name)} takes text.`)
  return { name, operator, value, text }
}

/** Converts `filter[a][$gt]=1&filter[$or][0][b]=2` to the object that the JSON form contains. */
function fromBrackets(query: Query, keys: readonly string[]): Record<string, unknown> {
  const root: Record<string, unknown> = Object.create(null)
  for (const key of keys) {
    const path = toPath(key)
    let at = root
    for (const part of path.slice(0, -1)) {
      const next = at[part] ??= Object.create(null)
      if (!isObject(next)) throw invalidQuery(`${quote(key)} contradicts another part of the filter.`, 'filter')
      at = next
    }
    const last = path.at(-1)!
    if (Object.hasOwn(at, last)) throw invalidQuery(`${quote(key)} contradicts another part of the filter.`, 'filter')
    at[last] = query[key]
  }
  return root
}

/** Splits a key into its parts: `$or`, branch, relations, field, operator. Ignores a trailing `[]`, with which some clients write lists. */
function toPath(key: string): string[] {
  const text = key.slice('filter'.length).replace(/\[\]$/, '')
  const path = [...text.matchAll(/\[([^[\]]+)\]/g)].map(match => match[1]!)
  if (path.length === 0 || path.length > LIMITS.jsonDepth || path.map(part => `[${part}]`).join('') !== text)
    throw invalidQuery(`${quote(key)} is not a filter.`, 'filter')
  return path
}
