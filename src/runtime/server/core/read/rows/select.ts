/** Builds the SELECT of a plan's rows: columns, joins, conditions, order, limit and offset. */
import { sql, type SQL } from 'drizzle-orm'
import type { Statement } from '../../../engines/engine'
import { orderShape, shape } from '../../sql/shape'
import type { Field } from '../../../schema/field'
import type { Call } from '../../request/session'
import type { Selection } from '../../access/fields'
import { orderList } from '../../sql/keyset'
import type { ReadPlan } from '../../plan/read-plan'
import { shapeOf, statement, valuesOf, whereClause, type Clause } from '../../sql/clause'
import type { Scoped } from '../../access/row-scope'
import { joinClauses, joinedSelectList, shapeOfJoins, valuesOfJoins, type Join } from './join'

export interface ReadOptions {
  /** The condition for rows after a cursor. */
  readonly start?: readonly Clause[]
  readonly offset?: number
  readonly limit?: number
  /** Writes the parameter of the limit. @default the parameter itself */
  readonly toLimit?: (limit: SQL) => SQL
  /** If true, the query also reads the columns that a cursor needs. */
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
  readonly computed?: readonly Clause[]
}

/** `select c1, c2 from t where … order by … limit ? offset ?` */
export function rowsStatement(
  plan: Scoped<ReadPlan>,
  columns: Selection,
  { start = [], offset, limit, toLimit, computed = [] }: ReadOptions,
  { api, engine }: Call,
  joins: readonly Join[] = [],
): Statement {
  const { resource, order } = plan
  const where = start.length > 0 ? [...conditions(plan), ...start] : conditions(plan)
  const bounds = limit === undefined || limit === Infinity ? [] : offset ? [limit, offset] : [limit]
  const isPlain = joins.length === 0 && order.length === 0 && bounds.length === 0 && computed.length === 0
  const joined = shapeOfJoins(joins)
  // The statement of a get has a short key, because each request builds it.
  const key = isPlain
    ? shape`rows ${columns.key}${shapeOf(where)}`
    : shape`read ${columns.key}${joined}${shapeOf(where)}${orderShape(order)}${bounds.length}${toLimit ? 'own' : ''}${shapeOf(computed)}`
  const values = [...valuesOf(computed), ...valuesOfJoins(joins), ...valuesOf(where), ...bounds]
  return statement(api.statements, engine, key, values, () => {
    const from = sql`${resource.table}${joinClauses(joins)}${whereClause(where)}`
    const sorted = order.length > 0 ? sql` order by ${orderList(order)}` : sql``
    const selected = sql`${selectList(columns)}${joinedSelectList(joins)}${sql.join(computed.map(({ build }) => sql`, ${build()}`))}`
    return { sql: sql`select ${selected} from ${from}${sorted}${limitClause(bounds, toLimit)}`, extra: undefined }
  })
}

function limitClause([limit, offset]: readonly number[], toLimit: (limit: SQL) => SQL = limit => limit): SQL {
  if (limit === undefined) return sql``
  const clause = sql` limit ${toLimit(sql`${sql.param(limit)}`)}`
  return offset === undefined ? clause : sql`${clause} offset ${sql.param(offset)}`
}

/** Returns the conditions of the query and of the row scope, for one WHERE clause. */
export function conditions(plan: { readonly where: readonly Clause[], readonly scope: readonly Clause[] }): readonly Clause[] {
  return [...plan.where, ...plan.scope]
}

export function selectList(columns: Selection): SQL {
  return sql.join(columns.fields.map(field => field.selection), sql`, `)
}
