/** Computes aggregates and groups over visible rows: in SQL, or in memory if an `objectLevel` rule checks each row. */
import { sql, type SQL } from 'drizzle-orm'
import { OPERATORS } from '../../../../shared/operators'
import type { Engine, Row, Statement } from '../../../engines/engine'
import { shape, type Shape } from '../../sql/shape'
import type { Call } from '../../request/session'
import { allFields } from '../../access/fields'
import { aggregateShape, returnsColumnValue, type AggregatePlan, type GroupOrder, type GroupPlan } from '../../plan/aggregate'
import { toOffset } from '../../parse/params'
import type { ReadPlan } from '../../plan/read-plan'
import { shapeOf, statement, valuesOf, whereClause, type Clause } from '../../sql/clause'
import { within, type Plan, type Scoped } from '../../access/row-scope'
import { toResultValue, groupRows } from './in-memory'
import { comparedValue, comparableResult, exactResult } from './functions'
import { runStatements, searchInSlices } from '../rows/text-search'
import { conditions } from '../rows/select'
import { decoder, type RecordValues } from '../rows/decode'
import { scan } from '../rows/scan'

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
  const readPlan = within<Plan, ReadPlan>(plan, { where, order, selection: allFields(resource), count: false })
  const decode = decoder(allFields(resource))
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
function groupsStatement(plan: Scoped<GroupPlan>, offset: number, { api, engine }: Call): Statement {
  const { resource, groups, order, limit } = plan
  const where = conditions(plan)
  const having = havingClauses(plan, engine)
  const key = shape`groups ${resource}${groups.key}${shapeOf(where)}${shapeOf(having)}${order.map(sortShape)}`
  return statement(api.statements, engine, key, [...valuesOf(where), ...valuesOf(having), limit, offset], () => {
    const rows = sql`${resource.table}${whereClause(where)}${groupByClause(groups, having)}${orderBy(plan, engine)}`
    return {
      sql: sql`select ${selectColumns(groups, engine)} from ${rows} limit ${sql.param(limit)} offset ${sql.param(offset)}`,
      extra: undefined,
    }
  })
}

const sortShape = ({ by, descending }: GroupOrder): Shape => shape`${'alias' in by ? aggregateShape(by) : by.column}${descending}`

/** `select count(*) from (select 1 from t where … group by … having …) as g` */
function countGroupsStatement(plan: Scoped<GroupPlan>, { api, engine }: Call): Statement {
  const { resource, groups } = plan
  const where = conditions(plan)
  const having = havingClauses(plan, engine)
  const key = shape`count groups ${resource}${groups.key}${shapeOf(where)}${shapeOf(having)}`
  return statement(api.statements, engine, key, [...valuesOf(where), ...valuesOf(having)], () => ({
    sql: sql`select count(*) from (select 1 as one from ${resource.table}${whereClause(where)}${groupByClause(groups, having)}) as g`,
    extra: undefined,
  }))
}

function selectColumns({ groupBy, aggregates }: AggregatePlan, engine: Engine): SQL {
  // An average is selected as a sum and a count.
  const results = aggregates.flatMap(aggregate => [
    exactResult(aggregate, engine),
    aggregate.function === 'avg' ? sql`count(${aggregate.field!.column})` : sql`0`,
  ])
  return sql.join([...groupBy.map(field => field.selection), ...results], sql`, `)
}

function groupByClause({ groupBy }: AggregatePlan, having: readonly Clause[]): SQL {
  const by = groupBy.length === 0 ? sql`` : sql` group by ${sql.join(groupBy.map(({ column }) => sql`${column}`), sql`, `)}`
  return having.length === 0 ? by : sql`${by} having ${sql.join(having.map(clause => clause.build()), sql` and `)}`
}

function orderBy({ order }: GroupPlan, engine: Engine): SQL {
  if (order.length === 0) return sql``
  return sql` order by ${sql.join(
    order.map(
      ({ by, descending }) => sql`${'alias' in by ? comparableResult(by, engine) : by.column}${sql.raw(descending ? ' desc' : '')}`,
    ),
    sql`, `,
  )}`
}

function havingClauses({ having }: GroupPlan, engine: Engine): readonly Clause[] {
  return having.map(({ aggregate, operator, value }) => {
    const { symbol } = OPERATORS[operator].comparison
    const bound = returnsColumnValue(aggregate) ? aggregate.field!.encode(value) : value
    return {
      shape: shape`${aggregateShape(aggregate)}${operator}`,
      values: [bound],
      build: () =>
        sql`${comparableResult(aggregate, engine)} ${sql.raw(symbol)} ${comparedValue(aggregate, sql`${sql.param(bound)}`, engine)}`,
    }
  })
}
