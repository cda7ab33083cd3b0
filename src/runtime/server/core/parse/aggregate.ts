/** Parses `aggregate`, `groupBy` and `having`. It does not resolve field names. */
import { isObject } from '../../../shared/is-object'
import { LIMITS } from '../../../shared/limits'
import { COMPARISONS, isComparison, type ComparisonName } from '../../../shared/operators'
import type { AutoApiConfig } from '../../../shared/config'
import type { ApiRequest } from '../request/api-request'
import type { Call } from '../request/session'
import { invalidOperator, invalidQuery, limitExceeded, quote, unknownOperator } from '../error'
import { parseFilter, type Filter } from './filter'
import { assertCost } from './cost'
import {
  assertBounded,
  nameList,
  pageSize,
  singleValue,
  toJson,
  toSort,
  trashMode,
  wholeNumber,
  type Query,
  type SortField,
} from './params'
import type { TrashMode } from '../../../shared/query'

export const FUNCTIONS = ['count', 'sum', 'avg', 'min', 'max'] as const

export type FunctionName = typeof FUNCTIONS[number]

export interface AggregateQuery {
  readonly function: FunctionName
  /** If it is absent, the function counts rows. */
  readonly field?: string
  /** The name of the result, such as `count` or `sum_amount`. */
  readonly alias: string
}

export interface HavingCondition {
  readonly alias: string
  readonly operator: ComparisonName
  readonly value: string | number
}

export interface GroupQuery {
  readonly aggregates: readonly AggregateQuery[]
  readonly groupBy: readonly string[]
  readonly having: readonly HavingCondition[]
  readonly filter: Filter
  readonly sort: readonly SortField[]
  readonly page: number
  readonly limit: number
  readonly trash: TrashMode
}

const COUNT: AggregateQuery = Object.freeze({ function: 'count', alias: 'count' })

export function parseGroups({ query }: ApiRequest, { api: { config } }: Call): GroupQuery {
  assertBounded(query)
  const aggregates = parseAggregates(query, config)
  const groupBy = [...new Set(nameList(query, 'groupBy') ?? [])]
  const { maxGroupByFields } = config.aggregations
  if (groupBy.length > maxGroupByFields) throw limitExceeded(`\`groupBy\` names more than ${maxGroupByFields} fields.`, 'groupBy')
  const groups: GroupQuery = {
    aggregates: aggregates.length > 0 ? aggregates : [COUNT],
    groupBy,
    having: parseHaving(query),
    filter: parseFilter(query, config),
    sort: toSort(nameList(query, 'sort') ?? [], 'sort'),
    page: wholeNumber(query, 'page') ?? 1,
    limit: pageSize(query, config.pagination),
    trash: trashMode(query),
  }
  assertCost(groups)
  return groups
}

/** `count,sum(amount)` */
export function parseAggregates(query: Query, { aggregations }: AutoApiConfig): readonly AggregateQuery[] {
  const texts = nameList(query, 'aggregate') ?? []
  if (texts.length > 0 && !aggregations.enabled) throw invalidQuery('Aggregates are turned off.', 'aggregate')
  if (texts.length > LIMITS.aggregates) throw limitExceeded(`\`aggregate\` holds more than ${LIMITS.aggregates} functions.`, 'aggregate')
  const parsed = texts.map(toAggregate)
  return parsed.filter(({ alias }, index) => parsed.findIndex(other => other.alias === alias) === index)
}

function toAggregate(text: string): AggregateQuery {
  const [, name, inner] = /^(\w+)(?:\(([^()]*)\))?$/.exec(text) ?? []
  const field = inner?.trim()
  const known = FUNCTIONS.find(known => known === name)
  if (!known) throw invalidOperator('aggregate', text)
  if (known === 'count' && (field === undefined || field === '*' || field === '')) return COUNT
  if (!field) throw invalidQuery(`\`aggregate\`: ${quote(text)} names no field.`, 'aggregate')
  return { function: known, field, alias: `${known}_${field}` }
}

/** `having={"count":{"$gt":5}}` */
function parseHaving(query: Query): readonly HavingCondition[] {
  const text = singleValue(query, 'having')
  if (text === undefined) return []
  const value = toJson(text, 'having')
  if (!isObject(value)) throw invalidQuery('`having` is not an object of conditions.', 'having')
  const conditions = Object.entries(value).flatMap(([alias, condition]) => {
    const operators = Object.entries(isObject(condition) ? condition : { $eq: condition })
    if (operators.length === 0) throw invalidQuery(`\`having\`: ${quote(alias)} has no operator.`, 'having')
    return operators.map(([operator, value]) => toHaving(alias, operator, value))
  })
  if (conditions.length > LIMITS.conditions) throw limitExceeded(`\`having\` holds more than ${LIMITS.conditions} conditions.`, 'having')
  return conditions
}

function toHaving(alias: string, operator: string, value: unknown): HavingCondition {
  if (!isComparison(operator)) throw unknownOperator('having', operator, COMPARISONS)
  if (typeof value !== 'number' && typeof value !== 'string')
    throw invalidQuery(`\`having\`: ${quote(alias)} is compared with a number or a string.`, 'having')
  return { alias, operator, value }
}
