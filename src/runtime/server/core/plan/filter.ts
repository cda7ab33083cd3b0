/** Conditions: names become columns, values are converted by the column's type, each operator is one row of a table. */
import { sql } from 'drizzle-orm'
import { LIMITS } from '../../../shared/limits'
import { INVALID, type Kind } from '../../../shared/wire'
import type { Engine } from '../../engines/engine'
import { shape } from '../sql/shape'
import type { Field } from '../../schema/field'
import { invalidOperator, invalidValue, limitExceeded, quote } from '../error'
import { requireField, type Selection } from '../access/fields'
import type { FilterCondition, Filter, OperatorName } from '../parse/filter'
import { inList } from '../sql/list/index'
import { like } from '../sql/like/index'
import { compared, or, isNotNull, isNull, boundValue, type Clause } from '../sql/clause'

type Operator = (field: Field, ask: FilterCondition, parameter: string, engine: Engine) => Clause

const compare = (symbol: '=' | '<>' | '>' | '>=' | '<' | '<='): Operator => (field, ask, parameter, engine) => {
  const value = boundValue(engine, field, convert(field, ask, ask.value, parameter))
  const { values, build } = value
  return {
    shape: shape`${field.column}${symbol}${value.shape}`,
    values,
    build: () => sql`${field.column} ${sql.raw(symbol)} ${compared(field, build())}`,
  }
}

/** SQL's own rule for NULL holds: `$ne` and `$nin` do not match it. */
export const OPERATORS: Readonly<Record<OperatorName, Operator>> = {
  $eq: (field, ask, ...rest) => ask.value === null ? isNull(field) : compare('=')(field, ask, ...rest),
  $ne: (field, ask, ...rest) => ask.value === null ? isNotNull(field) : compare('<>')(field, ask, ...rest),
  $gt: compare('>'),
  $gte: compare('>='),
  $lt: compare('<'),
  $lte: compare('<='),
  $like: (field, ask, parameter, engine) => like(engine, field, pattern(ask, parameter), parameter),
  $in: (field, ask, parameter, engine) => inList(engine, field, list(field, ask, parameter), true),
  $nin: (field, ask, parameter, engine) => inList(engine, field, list(field, ask, parameter), false),
  $null: (field, ask, parameter) => truth(ask, parameter) ? isNull(field) : isNotNull(field),
}

const ANY = new Set<OperatorName>(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$null'])
const EQUALITY = new Set<OperatorName>(['$eq', '$ne', '$in', '$nin', '$null'])
const PRESENCE = new Set<OperatorName>(['$null'])

/** A number that is kept as bytes is equal to another or not; which is larger the database cannot tell. */
const UNORDERED = new Set<OperatorName>(['$eq', '$ne', '$null'])

/** Which operators fit which columns. */
const FITTING: Readonly<Record<Kind, ReadonlySet<OperatorName>>> = {
  text: new Set([...ANY, '$like']),
  number: ANY,
  integer: ANY,
  boolean: EQUALITY,
  date: ANY,
  bigint: ANY,
  decimal: ANY,
  json: PRESENCE,
  blob: PRESENCE,
  custom: ANY,
}

/** Conditions side by side are AND. @throws `UNKNOWN_FIELD`, `INVALID_OPERATOR`, `INVALID_VALUE` */
export function planFilter(ask: Filter, readable: Selection, engine: Engine, parameter = 'filter'): readonly Clause[] {
  const all = (conditions: readonly FilterCondition[]) => conditions.map(condition => toClause(condition, readable, engine, parameter))
  return [...all(ask.conditions), ...ask.or ? [or(ask.or.map(all))] : []]
}

function toClause(ask: FilterCondition, readable: Selection, engine: Engine, parameter: string): Clause {
  const field = requireField(readable, ask.name, parameter)
  const fitting = field.ordered ? FITTING[field.kind] : field.kind === 'bigint' ? UNORDERED : PRESENCE
  if (!fitting.has(ask.operator) && !(ask.operator === '$eq' && ask.value === null)) throw invalidOperator(parameter, ask.operator)
  return OPERATORS[ask.operator](field, ask, parameter, engine)
}

function convert(field: Field, { text }: FilterCondition, value: unknown, parameter: string): unknown {
  const converted = value === null ? INVALID : text ? (typeof value === 'string' ? field.fromText(value) : INVALID) : field.fromJson(value)
  if (converted === INVALID) throw invalidValue(parameter, `the value of ${quote(field.name)} does not fit the field.`)
  return converted
}

/** Written in brackets, a list is repeated values or one comma list. Empty entries are ignored; in a column of text they are empty text. */
function list(field: Field, ask: FilterCondition, parameter: string): unknown[] {
  const entries = (text: string) => text.split(',').filter(entry => entry !== '' || field.kind === 'text')
  const values = ask.text ? [ask.value].flat().flatMap(value => typeof value === 'string' ? entries(value) : [value]) : ask.value
  if (!Array.isArray(values)) throw invalidValue(parameter, `${ask.operator} of ${quote(field.name)} takes a list.`)
  if (values.length > LIMITS.in) throw limitExceeded(`\`${parameter}\`: ${ask.operator} takes at most ${LIMITS.in} values.`, parameter)
  return values.map(value => convert(field, ask, value, parameter))
}

function truth({ value, text }: FilterCondition, parameter: string): boolean {
  const truth = text && (value === 'true' || value === 'false') ? value === 'true' : value
  if (typeof truth !== 'boolean') throw invalidValue(parameter, '$null takes true or false.')
  return truth
}

/** `%` and `_` are wildcards, `\` escapes them; without a wildcard the text may stand anywhere. */
function pattern({ name, value }: FilterCondition, parameter: string): string {
  if (typeof value !== 'string' || value.includes('\0')) throw invalidValue(parameter, `$like of ${quote(name)} takes text.`)
  // A `\` that escapes nothing stands for itself, at the end of the text too, where Postgres would refuse it.
  const escaped = value.replace(/\\(?![%_\\])|\\([%_\\])/g, (match, escapee?: string) => escapee === undefined ? '\\\\' : match)
  return /[%_]/.test(escaped.replace(/\\./g, '')) ? escaped : `%${escaped}%`
}
