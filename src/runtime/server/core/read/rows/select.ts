/** Builds the SELECT of a plan's rows: columns, joins, conditions, order, limit and offset. */
import type { SQL } from 'drizzle-orm'
import type { Statement } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import type { Call } from '../../request/session'
import type { Selection } from '../../access/fields'
import { orderJoins, orderList } from '../../sql/keyset'
import type { ReadPlan } from '../../plan/read-plan'
import type { Scoped } from '../../access/row-scope'
import { computedValues } from './position'
import { joinClauses, joinedColumns, type Join } from './join'
import { whereClause } from '../../sql/conditions'
import { statement } from '../../sql/parameterize'
import { EMPTY, asSql, commaList, value, where, type Part, type Where } from '../../sql/where'

export interface ReadOptions {
  /** The condition for rows after a cursor. */
  readonly start?: readonly Where[]
  readonly offset?: number
  readonly limit?: number
  /** Writes the parameter of the limit. @default the parameter itself */
  readonly toLimit?: (limit: SQL) => SQL
  /** If true, the query also reads the values that a cursor needs. */
  readonly cursor?: boolean
  /** The maximum number of rows that `objectLevel` checks. @default the result of `maxScanRows` */
  readonly maxScanned?: number
  /** The number of rows in the first batch of a scan without a limit. The size of its rows decides about later ones. @default maxBatch */
  readonly firstBatch?: number
  /** The maximum number of rows in one batch of a scan. @default LIMITS.scanBatch */
  readonly maxBatch?: number
  /** Columns that the query reads but the response does not contain. */
  readonly extraColumns?: readonly Field[]
  /** Values that the database computes for each row, after its columns. Only for plans without includes and rules in code. */
  readonly computed?: readonly Part[]
}

/** `select c1, c2 from t where … order by … limit ? offset ?` */
export function rowsStatement(
  plan: Scoped<ReadPlan>,
  columns: Selection,
  { start = [], offset, limit, toLimit, cursor = false, computed = [] }: ReadOptions,
  call: Call,
  joins: readonly Join[] = [],
): Statement {
  const { resource, order } = plan
  const conditionsOf = start.length > 0 ? [...conditions(plan), ...start] : conditions(plan)
  const sorted = order.length > 0 ? where` order by ${orderList(order)}` : EMPTY
  const positions = cursor ? computedValues(order) : []
  const selected = joins.length > 0 || computed.length > 0 || positions.length > 0
    ? commaList([selectList(columns), ...joinedColumns(joins), ...computed, ...positions])
    : selectList(columns)
  const from = where`${resource.table}${joinClauses(joins)}${orderJoins(order)}${whereClause(conditionsOf)}`
  return statement(call, where`select ${selected} from ${from}${sorted}${limitClause(limit, offset, toLimit)}`)
}

function limitClause(limit: number | undefined, offset: number | undefined, toLimit: ReadOptions['toLimit']): Where {
  if (limit === undefined || limit === Infinity) return EMPTY
  const clause = where` limit ${toLimit ? toLimit(asSql(value(limit))) : value(limit)}`
  return offset ? where`${clause} offset ${value(offset)}` : clause
}

/** Returns the conditions of the query and of the row scope, for one WHERE clause. */
export function conditions(plan: { readonly where: readonly Where[], readonly scope: readonly Where[] }): readonly Where[] {
  return [...plan.where, ...plan.scope]
}

export const selectList = ({ list }: Selection): Where => list
