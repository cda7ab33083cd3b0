/** Computes aggregates and groups over visible rows: in SQL, or in memory if an `objectLevel` rule checks each row. */
import { OPERATORS } from '../../../../shared/operators'
import type { Engine, Row, Statement } from '../../../engines/engine'
import type { Call } from '../../request/session'
import { allFieldsAnd } from '../../access/fields'
import { returnsColumnValue, type AggregatePlan, type GroupPlan, type Having } from '../../plan/aggregate'
import { toOffset } from '../../parse/params'
import type { ReadPlan } from '../../plan/read-plan'
import { within, type Plan, type Scoped } from '../../access/row-scope'
import { toResultValue, groupRows } from './in-memory'
import { comparedValue, comparableResult, exactResult } from './functions'
import { groupSource } from './derived-rows'
import { runStatements, searchInSlices } from '../rows/text-search'
import { conditions } from '../rows/select'
import { decoder, type RecordValues } from '../rows/decode'
import { scan } from '../rows/scan'
import { whereClause } from '../../sql/conditions'
import { statement } from '../../sql/parameterize'
import { asSql, commaList, EMPTY, joined, value, where, word, type Where } from '../../sql/where'

export interface GroupResult {
  readonly data: readonly RecordValues[]
  /** The number of groups on all pages. */
  readonly total: number
}

export async function executeGroups(requested: Scoped<GroupPlan>, call: Call): Promise<GroupResult> {
  const plan = await searchInSlices(requested, call)
  if (plan.accepts) return groupRows(plan, await visibleRecords(plan, call), call.engine)
  // Without `groupBy`, the result has at most one entry. It is on the first page.
  if (plan.groups.groupBy.length === 0) {
    const entries = (await call.engine.query(groupsStatement(plan, 0, call))).map(row => toEntry(plan.groups, row))
    return { data: plan.page > 1 ? [] : entries, total: entries.length }
  }
  const [rows, counted] = await runStatements(
    plan, call,
    () => call.engine.query(groupsStatement(plan, toOffset(plan.page, plan.limit), call)),
    () => call.engine.query(countGroupsStatement(plan, call)),
    () => undefined,
  )
  return { data: rows.map(row => toEntry(plan.groups, row)), total: Number(counted[0]![0]) }
}

/** Computes the aggregates over all rows of a list. */
export async function aggregateList(plan: Scoped<ReadPlan>, aggregates: AggregatePlan, call: Call): Promise<RecordValues> {
  const groupPlan = { groups: aggregates, having: [], order: [], page: 1, limit: 1, where: plan.where }
  const { data } = await executeGroups(within<ReadPlan, GroupPlan>(plan, groupPlan), call)
  return data[0]!
}

async function visibleRecords(plan: Scoped<GroupPlan>, call: Call): Promise<RecordValues[]> {
  const { resource, where } = plan
  const order = resource.primaryKey.map(field => ({ field, descending: false }))
  const { groupBy, aggregates } = plan.groups
  const selection = allFieldsAnd(resource, [...groupBy, ...aggregates.flatMap(({ field }) => field ?? [])])
  const readPlan = within<Plan, ReadPlan>(plan, { where, order, selection, count: false })
  const decode = decoder(selection)
  const records: RecordValues[] = []
  for await (const row of scan(readPlan, { maxScanned: call.api.config.objectLevelMaxRows }, call)) records.push(decode(row))
  return records
}

/** Returns one entry of the response: the group's fields in their JSON form, and the results by alias. */
function toEntry({ groupBy, aggregates }: AggregatePlan, row: Row): RecordValues {
  const results = Object.fromEntries(aggregates.map((aggregate, index) => {
    // Each aggregate has two columns: its result, and the count that an average needs (otherwise 0).
    const position = groupBy.length + 2 * index
    return [aggregate.alias, toResultValue(aggregate, row[position], row[position + 1])]
  }))
  if (groupBy.length === 0) return results
  const group = Object.fromEntries(groupBy.map((field, index) => {
    const value = field.decode ? field.decode(row[index]) : row[index]
    return [field.name, field.toJson ? field.toJson(value) : value]
  }))
  return { group, ...results }
}

/**
 * `select status, count(*), 0, sum(amount), count(amount) from t where … group by status having … order by … limit ? offset ?`.
 * Each aggregate has two columns; the second is 0 except for an average.
 */
function groupsStatement(plan: Scoped<GroupPlan>, offset: number, call: Call): Statement {
  const { plan: { groups, having, order }, from } = groupSource(plan, rowsOf(plan))
  const { engine } = call
  const rows = where`${from}${groupByClause(groups, having, engine)}${orderBy(order, engine)}`
  return statement(call, where`select ${selectColumns(groups, engine)} from ${rows} limit ${value(plan.limit)} offset ${value(offset)}`)
}

/** `select count(*) from (select 1 from t where … group by … having …) as g` */
function countGroupsStatement(plan: Scoped<GroupPlan>, call: Call): Statement {
  const { plan: { groups, having }, from } = groupSource(plan, rowsOf(plan))
  return statement(call, where`select count(*) from (select 1 as one from ${from}${groupByClause(groups, having, call.engine)}) as g`)
}

const rowsOf = (plan: Scoped<GroupPlan>): Where => where`${plan.resource.table}${whereClause(conditions(plan))}`

function selectColumns({ groupBy, aggregates }: AggregatePlan, engine: Engine): Where {
  // An average is selected as a sum and a count.
  const results = aggregates.flatMap(aggregate => [
    exactResult(aggregate, engine),
    aggregate.function === 'avg' ? where`count(${aggregate.field!.column})` : word('0'),
  ])
  return commaList([...groupBy.map(field => field.selection), ...results])
}

function groupByClause({ groupBy }: AggregatePlan, having: readonly Having[], engine: Engine): Where {
  const by = groupBy.length === 0 ? EMPTY : where` group by ${commaList(groupBy.map(({ column }) => column))}`
  return having.length === 0 ? by : where`${by} having ${joined(having.map(one => havingCondition(one, engine)), ' and ')}`
}

function orderBy(order: GroupPlan['order'], engine: Engine): Where {
  if (order.length === 0) return EMPTY
  return where` order by ${commaList(order.map(({ by, descending }) =>
    where`${'alias' in by ? comparableResult(by, engine) : by.column}${descending ? word(' desc') : EMPTY}`))}`
}

function havingCondition({ aggregate, operator, value: compared }: Having, engine: Engine): Where {
  const { symbol } = OPERATORS[operator].comparison
  const bound = value(returnsColumnValue(aggregate) ? aggregate.field!.encode(compared) : compared)
  return where`${comparableResult(aggregate, engine)} ${word(symbol)} ${comparedValue(aggregate, asSql(bound), engine)}`
}
