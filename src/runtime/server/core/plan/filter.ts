/** Plans a filter: replaces names with columns and relations, and converts values to the types of their columns. */
import type { Awaitable } from '../awaitable'
import { LIMITS } from '../../../shared/limits'
import { OPERATORS, type ComparisonName, type OperatorName } from '../../../shared/operators'
import { COUNT_OPERATOR } from '../../../shared/relation-counts'
import { INVALID } from '../../../shared/wire'
import type { Engine } from '../../engines/engine'
import type { Field } from '../../schema/field'
import type { Relation, Resource } from '../../schema/model'
import { acceptsOperator, operatorsOf } from '../../schema/operators-of'
import type { Call } from '../request/session'
import { invalidOperator, invalidQuery, invalidValue, limitExceeded, quote } from '../error'
import { readableFields, requireField } from '../access/fields'
import type { RelationFilter, Search } from '../access/plan'
import {
  isBranches, isRelationFilter, type Filter, type FilterBranches, type FilterCondition, type RelationFilter as ParsedRelation,
} from '../parse/filter'
import { findReadableRelation, isCheckedInCode, isCountable, usableRelations } from '../access/readable-relation'
import { isHeavy, planSearch } from './search'
import { inList } from '../sql/list/index'
import { like } from '../sql/like/index'
import { boundValue, isNotNull, isNull, noneOf, not, or } from '../sql/conditions'
import { asSql, where, word, type Where } from '../sql/where'

type ToClause = (field: Field, condition: FilterCondition, parameter: string, engine: Engine) => Where

/** Builds a comparison, for example `title = ?`. */
const compare = (name: ComparisonName): ToClause => (field, condition, parameter) =>
  comparison(field, name, convert(field, condition, condition.value, parameter))

function comparison(field: Field, name: ComparisonName, value: unknown): Where {
  const { symbol } = OPERATORS[name].comparison
  const bound = boundValue(field, value)
  return where`${field.column} ${word(symbol)} ${field.compare ? field.compare(asSql(bound)) : bound}`
}

/** Compares text by a pattern that the operator makes of the value. */
const matches = (toPattern: (text: string) => string): ToClause => (field, condition, parameter, engine) =>
  like(engine, field, toPattern(escaped(textOf(condition, parameter))), parameter)

/** The SQL of each operator. As in SQL, `$ne` and `$nin` do not match NULL. */
export const CLAUSES: Readonly<Record<OperatorName, ToClause>> = {
  $eq: (field, condition, ...rest) => condition.value === null ? isNull(field) : compare('$eq')(field, condition, ...rest),
  $ne: (field, condition, ...rest) => condition.value === null ? isNotNull(field) : compare('$ne')(field, condition, ...rest),
  $gt: compare('$gt'),
  $gte: compare('$gte'),
  $lt: compare('$lt'),
  $lte: compare('$lte'),
  $like: (field, condition, parameter, engine) => like(engine, field, toPattern(condition, parameter), parameter),
  $in: (field, condition, parameter, engine) => inList(engine, field, toList(field, condition, parameter), true),
  $nin: (field, condition, parameter, engine) => inList(engine, field, toList(field, condition, parameter), false),
  $null: (field, condition, parameter) => toBoolean(condition, parameter) ? isNull(field) : isNotNull(field),
  $between: (field, condition, parameter) => {
    const [first, last] = toRange(field, condition, parameter)
    return where`(${comparison(field, '$gte', first)} and ${comparison(field, '$lte', last)})`
  },
  // The test for NULL stays outside, because not every form of `like` is NULL for a row without a value.
  $notLike: (field, ...rest) => where`(${isNotNull(field)} and ${not(CLAUSES.$like(field, ...rest))})`,
  $startsWith: matches(text => `${text}%`),
  $endsWith: matches(text => `%${text}`),
  $contains: matches(text => `%${text}%`),
  $eqi: matches(text => text),
}

export interface PlannedFilter {
  readonly where: readonly Where[]
  readonly relationFilters?: readonly RelationFilter[]
  readonly search?: Search
}

/** What the filters of one request share: the number of relations they can still name, and the resources that they read. */
export interface RelatedReads {
  remaining: number
  readonly targets: Set<Resource>
}

export const relatedReads = ({ api: { config } }: Call): RelatedReads => ({ remaining: config.relations.maxIncludes, targets: new Set() })

/**
 * Converts a filter to conditions. A row must meet all of them. The caller authorizes `reads.targets` when the whole request is planned.
 * A promise only if there are conditions.
 * @throws `UNKNOWN_FIELD`, `INVALID_OPERATOR`, `INVALID_VALUE`, and for related rows `LIMIT_EXCEEDED` and `INVALID_QUERY`
 */
export function planFilter(
  filter: Filter, resource: Resource, call: Call, reads: RelatedReads, parameter = 'filter',
): Awaitable<PlannedFilter> {
  return filter.length === 0 ? NO_CONDITIONS : planConditions(filter, resource, call, reads, parameter)
}

const NO_CONDITIONS: PlannedFilter = Object.freeze({ where: [] })

async function planConditions(
  filter: Filter, resource: Resource, call: Call, reads: RelatedReads, parameter: string,
): Promise<PlannedFilter> {
  const heavy = isHeavy(filter)
  const { where, relationFilters } = await planEntries(filter, resource, { call, reads, parameter, heavy }, 1)
  return {
    where,
    ...relationFilters.length > 0 && { relationFilters },
    ...planSearch(filter, await readableFields(call, resource), heavy),
  }
}

interface Planner {
  readonly call: Call
  readonly reads: RelatedReads
  readonly parameter: string
  /** Whether the text search of the whole filter is heavy. */
  readonly heavy: boolean
}

interface PlannedEntries {
  readonly where: Where[]
  readonly relationFilters: RelationFilter[]
}

async function planEntries(entries: Filter, resource: Resource, planner: Planner, depth: number): Promise<PlannedEntries> {
  const { call, parameter } = planner
  const readable = await readableFields(call, resource)
  const where: Where[] = []
  const relationFilters: RelationFilter[] = []
  for (const entry of entries) {
    if (isBranches(entry)) {
      const { branches, not } = await planBranches(entry, resource, planner, depth)
      const isRelated = branches.some(({ relationFilters }) => relationFilters.length > 0)
      if (isRelated) relationFilters.push({ branches, ...not && { not } })
      else where.push((not ? noneOf : or)(branches.map(({ where }) => where)))
      continue
    }
    const { at } = entry
    const name = isRelationFilter(entry) ? entry.relation : entry.name
    const isField = readable.byName.has(name)
    const relation = isField ? undefined : await findReadableRelation(call, resource, name)
    if (relation) {
      relationFilters.push(await planRelated(relation, entry, planner, depth))
      continue
    }
    const field = requireField(readable, name, parameter, isField ? [] : await usableRelations(call, resource), at)
    if (isRelationFilter(entry)) throw invalidOperator(parameter, firstName(entry), `${at}.${name}`)
    where.push(toClause(entry, field, call, parameter))
  }
  return { where, relationFilters }
}

async function planBranches(
  { branches, not }: FilterBranches, resource: Resource, planner: Planner, depth: number,
): Promise<{ readonly branches: readonly PlannedEntries[], readonly not?: true }> {
  return { branches: await Promise.all(branches.map(branch => planEntries(branch, resource, planner, depth))), ...not && { not } }
}

const firstName = ({ conditions: [first], count }: ParsedRelation) =>
  count ? COUNT_OPERATOR : isBranches(first!) ? first.not ? '$not' : '$or' : isRelationFilter(first!) ? first.relation : first!.name

async function planRelated(
  relation: Relation, entry: FilterCondition | ParsedRelation, planner: Planner, depth: number,
): Promise<RelationFilter> {
  const { call, reads, parameter, heavy } = planner
  const { maxDepth, maxIncludes } = call.api.config.relations
  if (depth > maxDepth) throw limitExceeded(`\`${parameter}\` goes deeper than ${maxDepth} relations.`, parameter)
  if (--reads.remaining < 0) throw limitExceeded(`The filters name more than ${maxIncludes} relations.`, parameter)
  const { target } = relation
  if (isCheckedInCode(relation, call.api))
    throw invalidQuery(`\`${parameter}\`: ${quote(relation.name)} cannot be filtered, because code checks its records.`, parameter)
  const { count } = entry as Partial<ParsedRelation>
  if (count && !isCountable(relation))
    throw invalidOperator(parameter, COUNT_OPERATOR, `${entry.at}.${relation.name}`, 'counts the records of a list, but this is one record')
  reads.targets.add(target)
  const entries = isRelationFilter(entry) ? entry.conditions : []
  return {
    relation,
    match: !isRelationFilter(entry) && isNullTest(entry, parameter) ? 'none' : 'some',
    ...count && { count },
    plan: {
      resource: target,
      trash: 'active',
      ...await planEntries(entries, target, planner, depth + 1),
      ...planSearch(entries, await readableFields(call, target), heavy),
    },
    ...relation.kind === 'manyToMany' && { through: { resource: relation.junction.resource, trash: 'active' as const } },
  }
}

/** `{ author: null }` and `{ author: { $null: true } }` match rows without a related row that the caller can see. */
function isNullTest(condition: FilterCondition, parameter: string): boolean {
  const { name, operator, value, at } = condition
  if (operator === '$null') return toBoolean(condition, parameter)
  if (value === null && (operator === '$eq' || operator === '$ne')) return operator === '$eq'
  throw invalidOperator(parameter, operator, `${at}.${name}`)
}

function toClause(condition: FilterCondition, field: Field, { engine, api: { config } }: Call, parameter: string): Where {
  const { name, operator, value, at } = condition
  const isNullTest = operator === '$eq' && value === null
  if (!isNullTest && !acceptsOperator(field, operator)) {
    const known = operatorsOf(field, config.filters.extended)
    throw invalidOperator(parameter, operator, `${at}.${name}`, `does not fit the field, which accepts ${known.join(', ')}`)
  }
  return CLAUSES[operator](field, condition, parameter, engine)
}

function convert(field: Field, { text, at }: FilterCondition, value: unknown, parameter: string): unknown {
  const converted = value === null ? INVALID : text ? (typeof value === 'string' ? field.fromText(value) : INVALID) : field.fromJson(value)
  if (converted === INVALID) throw invalidValue(parameter, `${quote(field.name)} takes ${field.expected}.`, at)
  return converted
}

/**
 * Reads the list of `$in` and `$nin`. In a bracket filter, the list is a repeated parameter or comma-separated text. Empty entries are
 * ignored, except for a text column, where they mean empty text.
 */
function toList(field: Field, condition: FilterCondition, parameter: string): unknown[] {
  const { operator, value, text, at } = condition
  const split = (text: string) => text.split(',').filter(entry => entry !== '' || field.kind === 'text')
  const values = text ? [value].flat().flatMap(entry => typeof entry === 'string' ? split(entry) : [entry]) : value
  if (!Array.isArray(values)) throw invalidValue(parameter, `${operator} of ${quote(field.name)} takes a list.`, at)
  if (values.length > LIMITS.in) throw limitExceeded(`\`${parameter}\`: ${operator} takes at most ${LIMITS.in} values.`, parameter)
  return values.map(value => convert(field, condition, value, parameter))
}

function toRange(field: Field, condition: FilterCondition, parameter: string): readonly unknown[] {
  const values = toList(field, condition, parameter)
  if (values.length !== 2)
    throw invalidValue(parameter, `$between of ${quote(field.name)} takes a list of two values.`, condition.at)
  return values
}

function toBoolean({ value, text, at }: FilterCondition, parameter: string): boolean {
  const parsed = text && (value === 'true' || value === 'false') ? value === 'true' : value
  if (typeof parsed !== 'boolean') throw invalidValue(parameter, '$null takes true or false.', at)
  return parsed
}

/** `%` and `_` are wildcards, and `\` escapes them. A pattern without wildcards matches every value that contains the pattern. */
function toPattern(condition: FilterCondition, parameter: string): string {
  const pattern = textOf(condition, parameter)
  // A `\` before another character is literal. It is doubled, because Postgres refuses a pattern that ends with a single `\`.
  const escaped = pattern.replace(/\\(?![%_\\])|\\([%_\\])/g, (match, escapee?: string) => escapee === undefined ? '\\\\' : match)
  return /[%_]/.test(escaped.replace(/\\./g, '')) ? escaped : `%${escaped}%`
}

/** The text of a search. The parser has checked its type. */
function textOf({ name, operator, value, at }: FilterCondition, parameter: string): string {
  const text = value as string
  if (text.includes('\0')) throw invalidValue(parameter, `${operator} of ${quote(name)} takes text without NUL characters.`, at)
  return text
}

const escaped = (text: string) => text.replace(/[\\%_]/g, character => `\\${character}`)
