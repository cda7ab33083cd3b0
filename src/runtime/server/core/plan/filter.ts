/** Plans a filter: replaces names with columns and converts values to the types of their columns. */
import { sql } from 'drizzle-orm'
import { LIMITS } from '../../../shared/limits'
import { OPERATORS, type ComparisonName, type OperatorName } from '../../../shared/operators'
import { INVALID } from '../../../shared/wire'
import type { Engine } from '../../engines/engine'
import { shape } from '../sql/shape'
import type { Field } from '../../schema/field'
import { acceptsOperator } from '../../schema/operators-of'
import { invalidOperator, invalidValue, limitExceeded, quote } from '../error'
import { requireField, type Selection } from '../access/fields'
import type { Filter, FilterCondition } from '../parse/filter'
import { inList } from '../sql/list/index'
import { like } from '../sql/like/index'
import { compared, or, isNotNull, isNull, boundValue, type Clause } from '../sql/clause'

type ToClause = (field: Field, condition: FilterCondition, parameter: string, engine: Engine) => Clause

/** Builds a comparison, for example `title = ?`. */
const compare = (name: ComparisonName): ToClause => (field, condition, parameter, engine) => {
  const { symbol } = OPERATORS[name].comparison
  const value = boundValue(engine, field, convert(field, condition, condition.value, parameter))
  return {
    shape: shape`${field.column}${symbol}${value.shape}`,
    values: value.values,
    build: () => sql`${field.column} ${sql.raw(symbol)} ${compared(field, value.build())}`,
  }
}

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
}

/** Converts a filter to conditions. A row must meet all of them. @throws `UNKNOWN_FIELD`, `INVALID_OPERATOR`, `INVALID_VALUE` */
export function planFilter(filter: Filter, readable: Selection, engine: Engine, parameter = 'filter'): readonly Clause[] {
  const toClauses = (conditions: readonly FilterCondition[]) =>
    conditions.map(condition => toClause(condition, readable, engine, parameter))
  return [...toClauses(filter.conditions), ...filter.or ? [or(filter.or.map(toClauses))] : []]
}

function toClause(condition: FilterCondition, readable: Selection, engine: Engine, parameter: string): Clause {
  const { name, operator, value } = condition
  const field = requireField(readable, name, parameter)
  const isNullTest = operator === '$eq' && value === null
  if (!isNullTest && !acceptsOperator(field, operator)) throw invalidOperator(parameter, operator)
  return CLAUSES[operator](field, condition, parameter, engine)
}

function convert(field: Field, { text }: FilterCondition, value: unknown, parameter: string): unknown {
  const converted = value === null ? INVALID : text ? (typeof value === 'string' ? field.fromText(value) : INVALID) : field.fromJson(value)
  if (converted === INVALID) throw invalidValue(parameter, `the value of ${quote(field.name)} does not fit the field.`)
  return converted
}

/**
 * Reads the list of `$in` and `$nin`. In a bracket filter, the list is a repeated parameter or comma-separated text. Empty entries are
 * ignored, except for a text column, where they mean empty text.
 */
function toList(field: Field, condition: FilterCondition, parameter: string): unknown[] {
  const { operator, value, text } = condition
  const split = (text: string) => text.split(',').filter(entry => entry !== '' || field.kind === 'text')
  const values = text ? [value].flat().flatMap(entry => typeof entry === 'string' ? split(entry) : [entry]) : value
  if (!Array.isArray(values)) throw invalidValue(parameter, `${operator} of ${quote(field.name)} takes a list.`)
  if (values.length > LIMITS.in) throw limitExceeded(`\`${parameter}\`: ${operator} takes at most ${LIMITS.in} values.`, parameter)
  return values.map(value => convert(field, condition, value, parameter))
}

function toBoolean({ value, text }: FilterCondition, parameter: string): boolean {
  const parsed = text && (value === 'true' || value === 'false') ? value === 'true' : value
  if (typeof parsed !== 'boolean') throw invalidValue(parameter, '$null takes true or false.')
  return parsed
}

/** `%` and `_` are wildcards, and `\` escapes them. A pattern without wildcards matches every value that contains the pattern. */
function toPattern({ name, value }: FilterCondition, parameter: string): string {
  if (typeof value !== 'string' || value.includes('\0')) throw invalidValue(parameter, `$like of ${quote(name)} takes text.`)
  // A `\` before another character is literal. It is doubled, because Postgres refuses a pattern that ends with a single `\`.
  const escaped = value.replace(/\\(?![%_\\])|\\([%_\\])/g, (match, escapee?: string) => escapee === undefined ? '\\\\' : match)
  return /[%_]/.test(escaped.replace(/\\./g, '')) ? escaped : `%${escaped}%`
}
