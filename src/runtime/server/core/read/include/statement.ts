/** The SELECT that reads the children of all parents of one include. */
import { sql, type SQL } from 'drizzle-orm'
import type { Statement } from '../../../engines/engine'
import { orderShape, shape } from '../../sql/shape'
import type { Relation } from '../../../schema/model'
import type { Call } from '../../request/session'
import { allFields, type Selection } from '../../access/fields'
import { orderList } from '../../sql/keyset'
import { joinAnd, fromClauses, shapeOf, statement, valuesOf, whereClause, type Clause, type ComparableColumn } from '../../sql/clause'
import { inTuples } from '../../sql/list/index'
import { joinCondition } from '../rows/junction'
import type { ScopedInclude } from '../rows/join'
import { conditions } from '../rows/select'

/** State of a statement that can read too many rows. */
export interface Attempts {
  /** The number of requests that use another statement instead. */
  skipped: number
}

/**
 * To-one: `select … from author where id in (…)`.
 * To-many without a limit per parent: `select id, … from comments where post_id in (…) and … order by post_id, id limit ?`. Sorting by the
 * parent first fits the index on it, and keeps planners away from the index on the order.
 * To-many: `select c0, …, n from (select id as c0, …, row_number() over (partition by post_id order by id) as n
 * from comments where post_id in (…) and …) as ranked where n <= ? limit ?`.
 * `c0`, `c1` … are the selected columns, and `n` is the position of a child among the children of its parent. The rows have no order: to
 * sort them, the database would have to read all children with all their columns first.
 * To-many, SQLite in this process: `select id, …, n from (select id as c0, row_number() over (…) as n from comments where …) as ranked
 * cross join comments where id = c0 and n <= ? limit ?`. It sorts the children of all parents, so it sorts only their keys.
 */
export function childrenStatement(
  include: ScopedInclude,
  columns: Selection,
  parents: readonly (readonly unknown[])[],
  perParent: number | undefined,
  maxRows: number,
  { api, engine }: Call,
): Statement & { readonly extra: Attempts } {
  const { relation, plan, through } = include
  const parent = parentColumns(relation)
  const where: readonly Clause[] = [inTuples(engine, parent, parents), ...conditions(plan), ...linkConditions(through)]
  const many = relation.kind !== 'one'
  const checksLinks = through?.accepts !== undefined
  const key = shape`include ${relation}${columns.key}${checksLinks}${shapeOf(where)}${orderShape(plan.order)}${perParent !== undefined}`
  const values = [...valuesOf(where), ...(perParent === undefined ? [] : [perParent]), maxRows]
  return statement(api.statements, engine, key, values, () => {
    const extra = { skipped: 0 }
    const source = sourceOf(relation, through)
    const selected = [...columns.fields.map(field => field.selection), ...source.junctionColumns]
    if (perParent === undefined) {
      const first = parent.map(({ column }) => sql`${column}, `)
      const order = many ? sql` order by ${sql.join(first)}${orderList(plan.order)}` : sql``
      const text = sql`select ${sql.join(selected, sql`, `)} from ${source.from}${whereClause(where)}${order} limit ${sql.param(maxRows)}`
      return { extra, sql: text }
    }
    const partition = sql.join(
      parent.map(({ column, bytes }) => (bytes ? bytes.operand(sql`${column}`) : sql`${column}`)),
      sql`, `,
    )
    const n = sql.identifier('auto_api_n')
    const rank = sql`row_number() over (partition by ${partition} order by ${orderList(plan.order)}) as ${n}`
    const rankedRows = (columns: readonly SQL[]) => {
      const named = columns.map((column, index) => sql`${column} as ${nameAt(index)}`)
      const rows = sql`select ${sql.join(named, sql`, `)}, ${rank} from ${source.from}${whereClause(where)}`
      return sql`(${rows}) as ${sql.identifier('auto_api_ranked')}`
    }
    const bounds = sql`${n} <= ${sql.param(perParent)} limit ${sql.param(maxRows)}`
    if (!engine.blocking) {
      const names = sql.join([...selected.map((_, index) => nameAt(index)), n], sql`, `)
      return { extra, sql: sql`select ${names} from ${rankedRows(selected)} where ${bounds}` }
    }
    const { primaryKey, table } = relation.target
    const fields = columns.fields.map(({ selection }) => selection)
    const shown = [...fields, ...source.junctionColumns.map((_, index) => nameAt(primaryKey.length + index))]
    const isRanked = sql.join(primaryKey.map(({ column }, index) => sql`${column} = ${nameAt(index)}`), sql` and `)
    const ranked = rankedRows([...primaryKey.map(({ column }) => sql`${column}`), ...source.junctionColumns])
    const shownRows = sql`select ${sql.join([...shown, n], sql`, `)} from ${ranked} cross join ${table}`
    return { extra, sql: sql`${shownRows} where ${isRanked} and ${bounds}` }
  })
}

const nameAt = (index: number) => sql.identifier(`auto_api_c${index}`)

/** The columns that reference the parent: those of the child, or of the junction table. */
function parentColumns(relation: Relation): readonly ComparableColumn[] {
  if (relation.kind !== 'manyToMany') return relation.foreignColumns
  const { junction } = relation
  return junction.sourceKey.columns.map(name => junction.resource.fields.get(name)!)
}

/**
 * The conditions of the junction table. The shape contains `through`, because the junction table and the target table can have a tenant
 * column of the same name.
 */
function linkConditions(through: ScopedInclude['through']): readonly Clause[] {
  return through && through.scope.length > 0 ? [fromClauses(shape`through`, through.scope, () => joinAnd(through.scope, true))] : []
}

/** Returns the FROM clause of the children, and the columns of the junction table. */
function sourceOf(relation: Relation, through: ScopedInclude['through']): { from: SQL, junctionColumns: readonly SQL[] } {
  const { table } = relation.target
  if (relation.kind !== 'manyToMany') return { from: sql`${table}`, junctionColumns: [] }
  const { junction } = relation
  const targetKey = junction.targetKey.columns.map(name => junction.resource.fields.get(name)!)
  return {
    from: sql`${junction.resource.table} inner join ${table} on ${joinCondition(targetKey, relation.foreignColumns)}`,
    junctionColumns: [
      ...parentColumns(relation).map(({ column }) => sql`${column}`),
      ...(through?.accepts ? allFields(through.resource).fields.map(field => field.selection) : []),
    ],
  }
}
