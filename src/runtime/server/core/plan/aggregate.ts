/** Plans aggregates and groups: resolves their names to functions and columns. */
import type { ComparisonName } from '../../../shared/operators'
import { EXPECTED, INVALID, WIRE_FORMATS, type Kind } from '../../../shared/wire'
import type { Field } from '../../schema/field'
import type { Call } from '../request/session'
import { invalidOperator, invalidQuery, invalidValue, quote, unknownField } from '../error'
import { readableFields, requireField, type Selection } from '../access/fields'
import type { AggregateQuery, FunctionName, GroupQuery, HavingCondition } from '../parse/aggregate'
import { authorize } from '../access/authorize'
import type { Plan, Search } from '../access/plan'
import { planFilter, relatedReads } from './filter'
import type { Where } from '../sql/where'

export interface Aggregate {
  readonly alias: string
  readonly function: FunctionName
  readonly field?: Field
}

export interface AggregatePlan {
  readonly groupBy: readonly Field[]
  readonly aggregates: readonly Aggregate[]
}

export interface GroupOrder {
  readonly by: Field | Aggregate
  readonly descending: boolean
}

export interface Having {
  readonly aggregate: Aggregate
  readonly operator: ComparisonName
  /** For `min` and `max`, a value of the column. For other functions, a number as text. */
  readonly value: unknown
}

export interface GroupPlan extends Plan {
  readonly groups: AggregatePlan
  readonly where: readonly Where[]
  readonly having: readonly Having[]
  readonly order: readonly GroupOrder[]
  readonly page: number
  readonly limit: number
  readonly search?: Search
}

const NUMERIC = new Set<Kind>(['number', 'integer', 'bigint', 'decimal'])
const COMPARABLE = new Set<Kind>([...NUMERIC, 'text', 'date'])

/** Whether a function supports a kind of column. */
const SUPPORTS_KIND: Readonly<Record<FunctionName, (kind: Kind) => boolean>> = {
  count: () => true,
  sum: kind => NUMERIC.has(kind),
  avg: kind => NUMERIC.has(kind),
  min: kind => COMPARABLE.has(kind),
  max: kind => COMPARABLE.has(kind),
}

/** Whether a function supports a column. */
export const canAggregate = (name: FunctionName, { kind, ordered }: Field): boolean =>
  SUPPORTS_KIND[name](kind) && (name === 'count' || ordered)

export function planAggregates(queries: readonly AggregateQuery[], groupBy: readonly string[], readable: Selection): AggregatePlan {
  const aggregates = queries.map(({ function: name, field, alias }): Aggregate => {
    if (field === undefined) return { alias, function: name }
    const column = requireField(readable, field, 'aggregate')
    if (!canAggregate(name, column)) throw invalidOperator('aggregate', `${name}(${field})`)
    return { alias, function: name, field: column }
  })
  const fields = groupBy.map(name => requireGroupable(requireField(readable, name, 'groupBy')))
  return { aggregates, groupBy: fields }
}

function requireGroupable(field: Field): Field {
  if (!field.ordered) throw invalidQuery(`\`groupBy\`: ${quote(field.name)} cannot be grouped by.`, 'groupBy')
  return field
}

export async function planGroups(query: GroupQuery, call: Call): Promise<GroupPlan> {
  const readable = await readableFields(call)
  const groups = planAggregates(query.aggregates, query.groupBy, readable)
  const filters = relatedReads(call)
  const plan = {
    resource: call.resource,
    trash: query.trash,
    groups,
    ...await planFilter(query.filter, call.resource, call, filters),
    having: query.having.map(having => planHaving(groups, having)),
    order: planGroupOrder(query, groups),
    page: query.page,
    limit: query.limit,
  }
  for (const target of filters.targets) await authorize(call, target, ['read'])
  return plan
}

/** `having` accepts only the aggregates of the query. @throws `UNKNOWN_FIELD` for any other name. */
function planHaving({ aggregates }: AggregatePlan, { alias, operator, value }: HavingCondition): Having {
  const aggregate = aggregates.find(aggregate => aggregate.alias === alias)
  if (!aggregate) throw unknownField('having', alias, aggregates.map(({ alias }) => alias))
  const field = returnsColumnValue(aggregate) ? aggregate.field : undefined
  const converted = field ? field.fromJson(value) : toNumberText(value)
  if (converted === INVALID) throw invalidValue('having', `${quote(alias)} takes ${field?.expected ?? EXPECTED.number}.`)
  return { aggregate, operator, value: converted }
}

/** `min` and `max` return a value of the column. Other functions return a number. */
export function returnsColumnValue({ function: name }: Aggregate): boolean {
  return name === 'min' || name === 'max'
}

/** Limits the length and the exponent of the numbers in `having`. No engine computes with more digits. */
const MAX_DIGITS = 200
const MAX_EXPONENT = 400

/** Validates a number and keeps it as text, because a sum can have more digits than a double. */
function toNumberText(value: string | number): unknown {
  const text = String(value)
  const [digits, exponent = '0'] = text.toLowerCase().split('e')
  const isShort = digits!.length <= MAX_DIGITS && Math.abs(Number(exponent)) <= MAX_EXPONENT
  return isShort && WIRE_FORMATS.number.fromText(text) !== INVALID ? text : INVALID
}

/** Sorts by `sort`, then by the other fields of `groupBy`, so that the order has no ties. */
function planGroupOrder({ sort }: GroupQuery, { groupBy, aggregates }: AggregatePlan): readonly GroupOrder[] {
  const order: GroupOrder[] = sort.map(({ name, descending }) => {
    const by = groupBy.find(field => field.name === name) ?? aggregates.find(({ alias }) => alias === name)
    if (!by) throw unknownField('sort', name, [...groupBy.map(({ name }) => name), ...aggregates.map(({ alias }) => alias)])
    return { by, descending }
  })
  return [...order, ...groupBy.filter(field => !order.some(({ by }) => by === field)).map(by => ({ by, descending: false }))]
}
