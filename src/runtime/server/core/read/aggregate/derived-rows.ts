/** Groups over computed fields: a subquery computes the values, and the statement around it groups them like columns. */
import { sql, type SQL } from 'drizzle-orm'
import { copyColumn } from '../../../schema/drizzle/copy-column'
import { withExpression } from '../../../schema/drizzle/expression'
import { selectExactly, type Field } from '../../../schema/field'
import { tableOf } from '../../../drizzle/index'
import type { Aggregate, GroupPlan } from '../../plan/aggregate'
import type { Scoped } from '../../access/row-scope'
import { commaList, where, type Where } from '../../sql/where'

export interface GroupSource {
  /** The parts of the plan, with the fields of the source. */
  readonly plan: Pick<GroupPlan, 'groups' | 'having' | 'order'>
  readonly from: Where
}

const ROWS = sql.identifier('auto_api_rows')

/**
 * Databases accept an expression in SELECT only if they find the same one in GROUP BY, and they differ in what they consider the same.
 * @param rows the table and its conditions
 */
export function groupSource(plan: Scoped<GroupPlan>, rows: Where): GroupSource {
  const { groups: { groupBy, aggregates }, having, order } = plan
  if (groupBy.every(({ stored }) => stored)) return { plan, from: rows }
  const used = [...new Set([...groupBy, ...aggregates.flatMap(({ field }) => field ?? [])])]
  const fields = new Map(used.map((field, index) => [field, derivedField(field, sql`${ROWS}.${nameAt(index)}`)]))
  const derived = new Map(aggregates.map((aggregate): [Aggregate, Aggregate] =>
    [aggregate, aggregate.field ? { ...aggregate, field: fields.get(aggregate.field)! } : aggregate]))
  const selected = commaList(used.map(({ column }, index) => where`${column} as ${nameAt(index)}`))
  return {
    plan: {
      groups: { groupBy: groupBy.map(field => fields.get(field)!), aggregates: aggregates.map(aggregate => derived.get(aggregate)!) },
      having: having.map(one => ({ ...one, aggregate: derived.get(one.aggregate) ?? one.aggregate })),
      order: order.map(({ by, descending }) => ({ by: 'alias' in by ? derived.get(by) ?? by : fields.get(by)!, descending })),
    },
    from: where`(select ${selected} from ${rows}) as ${ROWS}`,
  }
}

const nameAt = (index: number) => sql.identifier(`auto_api_c${index}`)

function derivedField(field: Field, value: SQL): Field {
  const copy = copyColumn(field.column, tableOf(field.column), { name: field.name })
  const column = withExpression(copy, { sql: value, scopes: [], readsRows: false, tables: [], text: '' })
  return { ...field, column, selection: selectExactly(field, value) }
}
