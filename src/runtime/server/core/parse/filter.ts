/** Parses `filter`, as JSON or in brackets, into conditions. It does not resolve field names, and it does not convert values. */
import { isObject } from '../../../shared/is-object'
import { LIMITS } from '../../../shared/limits'
import { COMBINATIONS, isInForce, isOperator, operatorNames, OPERATORS, type OperatorName } from '../../../shared/operators'
import { COUNT_OPERATOR, type CountComparison } from '../../../shared/relation-counts'
import type { AutoApiConfig } from '../../../shared/config'
import { invalidOperator, invalidQuery, invalidValue, limitExceeded, quote, unknownOperator } from '../error'
import { fromBrackets } from './bracket-filter'
import { misplacedCount, readCount } from './count-filter'
import { toJson, type Query } from './params'

export interface FilterCondition {
  readonly name: string
  readonly operator: OperatorName
  readonly value: unknown
  /** Whether the value is text of the query string instead of JSON. The type of the column determines how this text is converted. */
  readonly text: boolean
  /** The place of the object with the name, for messages: `filter.$or[1]`. */
  readonly at: string
}

/** Conditions on the related rows. A row matches if at least one of its related rows meets all of them. */
export interface RelationFilter {
  readonly relation: string
  readonly conditions: readonly FilterEntry[]
  /** Conditions on the number of related rows. Then there are no others. */
  readonly count?: readonly CountComparison[]
  readonly at: string
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

/** The number of comparisons in a filter. A range has two. */
export const countConditions = (filter: Filter): number => filter.reduce((sum, entry) => sum + comparisonsIn(entry), 0)

function comparisonsIn(entry: FilterEntry): number {
  if (isBranches(entry)) return entry.branches.reduce((sum, branch) => sum + countConditions(branch), 0)
  if (isRelationFilter(entry)) return entry.count?.length ?? countConditions(entry.conditions)
  return OPERATORS[entry.operator].value === 'range' ? 2 : 1
}

const NONE: Filter = Object.freeze([])

export function parseFilter(query: Query, config: AutoApiConfig): Filter {
  const text = query.filter
  const brackets = Object.keys(query).filter(key => key.startsWith('filter['))
  if (text === undefined) return brackets.length === 0 ? NONE : toFilter(fromBrackets(query, brackets), 'filter', config, true)
  if (Array.isArray(text)) throw invalidQuery('`filter` is given more than once.', 'filter')
  if (brackets.length > 0) throw invalidQuery('`filter` is either JSON or written in brackets, not both.', 'filter')
  return toFilter(toJson(text, 'filter'), 'filter', config)
}

/** @param text whether the values are text of a query string. */
export function toFilter(value: unknown, parameter: string, { filters: { extended } }: AutoApiConfig, text = false): Filter {
  if (!isObject(value)) throw invalidQuery(`\`${parameter}\` is not an object of conditions.`, parameter)
  const filter = readConditions(value, { parameter, text, extended }, parameter, 0)
  if (countConditions(filter) > LIMITS.conditions)
    throw limitExceeded(`\`${parameter}\` holds more than ${LIMITS.conditions} conditions.`, parameter)
  return filter
}

interface Reader {
  readonly parameter: string
  readonly text: boolean
  readonly extended: boolean
}

type Content = Record<string, unknown>

/** @param depth the number of `$and`, `$or` and `$not` around the object */
type Read = (object: Content, reader: Reader, at: string, depth: number) => FilterEntry[]

/** Only the schema knows the relations. Here, an object without operators contains conditions on the rows of a relation. */
function readConditions(object: Content, reader: Reader, at: string, depth: number): FilterEntry[] {
  const { parameter, text, extended } = reader
  return Object.entries(object).flatMap(([name, value]): FilterEntry[] => {
    if (isCombination(name, reader, at === parameter)) return combine(name, value, reader, at, depth, readConditions)
    if (name.startsWith('$')) throw unknown(name, reader, at)
    if (Array.isArray(value)) return [{ name, operator: '$in', value, text, at }]
    if (!isObject(value)) return [{ name, operator: '$eq', value, text, at }]
    if (Object.keys(value).length === 0) throw invalidValue(parameter, `${quote(name)} has no operator.`, at)
    const path = `${at}.${name}`
    if (extended && Object.hasOwn(value, COUNT_OPERATOR))
      return [{ relation: name, conditions: [], count: readCount(value, parameter, text, path), at }]
    if (hasOperators(value, reader)) return readField(name, at)(value, reader, path, depth)
    return [{ relation: name, conditions: readConditions(value, reader, path, depth), at }]
  })
}

/** Reads the operators of a field, and their combinations: `{ $not: { $like: 'a%' } }`. */
const readField = (name: string, at: string): Read => (object, reader, path, depth) => {
  const isKnown = (key: string): key is OperatorName => isOperator(key) && isInForce(key, reader.extended)
  // A name beside operators is not an operator either. A mistyped operator is reported first.
  const wrong = Object.keys(object).filter(key => !isKnown(key) && !isCombination(key, reader, false))
  if (wrong.length > 0) throw unknown(wrong.find(key => key.startsWith('$')) ?? wrong[0]!, reader, path)
  return Object.entries(object).flatMap(([operator, value]): FilterEntry[] => {
    if (!isKnown(operator)) return combine(operator as Combination, value, reader, path, depth, readField(name, at))
    // The characters of patterns are counted before the column is known.
    const { value: form } = OPERATORS[operator]
    if ((form === 'pattern' || form === 'text') && typeof value !== 'string')
      throw invalidValue(reader.parameter, `${operator} of ${quote(name)} takes text.`, at)
    return [{ name, operator, value, text: reader.text, at }]
  })
}

const isCombination = (name: string, { extended }: Reader, isRoot: boolean): name is Combination =>
  extended ? (COMBINATIONS as readonly string[]).includes(name) : isRoot && name === '$or'

type Combination = typeof COMBINATIONS[number]

/**
 * Whether the keys of an object are operators, in its combinations too. Other objects contain conditions on the rows of a relation, and so
 * do those with a misplaced `$count`: no field has it, and the error is about `$count`.
 */
function hasOperators(object: Content, reader: Reader): boolean {
  return Object.entries(object).some(([key, value]) => isCombination(key, reader, false)
    ? contentsOf(value).some(content => isObject(content) && hasOperators(content, reader))
    : key.startsWith('$') && key !== COUNT_OPERATOR)
}

/** The list of `$and` and `$or`, which brackets write as an object with indexes, or the object of `$not`. */
const contentsOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : isObject(value) ? Object.keys(value).every(key => /^\d+$/.test(key)) ? Object.values(value) : [value] : []

function combine(name: Combination, value: unknown, reader: Reader, at: string, depth: number, read: Read): FilterEntry[] {
  const { parameter, text } = reader
  if (depth === LIMITS.combinations)
    throw limitExceeded(`\`${parameter}\`: ${COMBINATIONS.join(', ')} nest at most ${LIMITS.combinations} deep.`, parameter)
  const branch = (content: unknown, path: string) => {
    const conditions = isObject(content) ? read(content, reader, path, depth + 1) : []
    if (conditions.length === 0)
      throw invalidQuery(`\`${at}\`: ${name === '$not' ? '' : 'every branch of '}\`${name}\` is an object of conditions.`, parameter)
    return conditions
  }
  if (name === '$not') return [{ branches: [branch(value, `${at}.$not`)], not: true }]
  const list = text && isObject(value) ? Object.values(value) : value
  if (!Array.isArray(list) || list.length === 0)
    throw invalidQuery(`\`${at}\`: \`${name}\` is a list of objects of conditions.`, parameter)
  if (name === '$or' && list.length > LIMITS.or)
    throw limitExceeded(`\`${at}\`: \`$or\` has more than ${LIMITS.or} branches.`, parameter)
  const branches = list.map((content, index) => branch(content, `${at}.${name}[${index}]`))
  return name === '$and' ? branches.flat() : [{ branches }]
}

function unknown(operator: string, { parameter, extended }: Reader, at: string): Error {
  const known = operatorNames(extended)
  if (extended && operator === COUNT_OPERATOR) return misplacedCount(parameter, at)
  return !extended && (operator === COUNT_OPERATOR || isOperator(operator) || (COMBINATIONS as readonly string[]).includes(operator))
    ? invalidOperator(parameter, operator, at, `is not supported here without \`filters.extended\`. The operators are ${known.join(', ')}`)
    : unknownOperator(parameter, operator, known, at)
}
