/** The SELECT that reads the children of all parents of one include. */
import { sql, type SQL } from 'drizzle-orm'
import type { Statement } from '../../../../engines/engine'
import { orderShape, shape } from '../../../sql/shape'
import type { Relation } from '../../../../schema/model'
import type { Call } from '../../../context'
import { allFields, type Selection } from '../../../access/fields'
import { orderList } from '../../../sql/keyset'
import { joinAnd, fromClauses, shapeOf, statement, valuesOf, whereClause, type Clause, type ComparableColumn } from '../../../sql/clause'
import { inTuples } from '../../../sql/list/index'
import { joinCondition } from '../../rows/junction'
import type { ScopedInclude } from '../../rows/join'
import { conditions } from '../../rows/select'

/**
 * To-one: `select … from author where id in (…)`.
 * To-many: `select c0, … from (select id as c0, …, row_number() over (partition by post_id order by id) as n
 * from comments where post_id in (…) and …) as ranked where n <= ? order by n limit ?`.
 * `c0`, `c1` … are the selected columns, and `n` is the position of a child among the children of its parent.
 */
export function childrenStatement(
  include: ScopedInclude,
  columns: Selection,
  parents: readonly (readonly unknown[])[],
  perParent: number | undefined,
  maxRows: number,
  { api, engine }: Call,
): Statement {
  const { relation, plan, through } = include
  const source = sourceOf(relation, through)
  const where: readonly Clause[] = [inTuples(engine, source.parent, parents), ...conditions(plan), ...source.conditions]
  const many = relation.kind !== 'one'
  const checksLinks = through?.accepts !== undefined
  const key = shape`include ${relation}${columns.key}${checksLinks}${shapeOf(where)}${orderShape(plan.order)}${perParent !== undefined}`
  const values = [...valuesOf(where), ...(perParent === undefined ? [] : [perParent]), maxRows]
  return statement(api.statements, engine, key, values, () => {
    const selected = [...columns.fields.map(field => field.selection), ...source.junctionColumns]
    const order = many ? sql` order by ${orderList(plan.order)}` : sql``
    if (perParent === undefined)
      return {
        extra: undefined,
        sql: sql`select ${sql.join(selected, sql`, `)} from ${source.from}${whereClause(where)}${order} limit ${sql.param(maxRows)}`,
      }
    const named = selected.map((column, index) => sql`${column} as ${sql.identifier(`c${index}`)}`)
    const names = selected.map((_, index) => sql`${sql.identifier(`c${index}`)}`)
    const partition = sql.join(
      source.parent.map(({ column, bytes }) => (bytes ? bytes.operand(sql`${column}`) : sql`${column}`)),
      sql`, `,
    )
    const n = sql.identifier('n')
    const rank = sql`row_number() over (partition by ${partition}${order}) as ${n}`
    const rows = sql`select ${sql.join(named, sql`, `)}, ${rank} from ${source.from}${whereClause(where)}`
    const bounds = sql`where ${n} <= ${sql.param(perParent)} order by ${n} limit ${sql.param(maxRows)}`
    return { extra: undefined, sql: sql`select ${sql.join(names, sql`, `)} from (${rows}) as ${sql.identifier('ranked')} ${bounds}` }
  })
}

/** Returns the FROM clause of the children, the columns that reference the parent, and the columns and conditions of the junction table. */
function sourceOf(
  relation: Relation,
  through: ScopedInclude['through'],
): { from: SQL, parent: readonly ComparableColumn[], junctionColumns: readonly SQL[], conditions: readonly Clause[] } {
  const { table } = relation.target
  if (relation.kind !== 'manyToMany') return { from: sql`${table}`, parent: relation.foreignColumns, junctionColumns: [], conditions: [] }
  const { junction } = relation
  const columns = (names: readonly string[]) => names.map(name => junction.resource.fields.get(name)!)
  const parent = columns(junction.sourceKey.columns)
  const isLinked = joinCondition(columns(junction.targetKey.columns), relation.foreignColumns)
  return {
    from: sql`${junction.resource.table} inner join ${table} on ${isLinked}`,
    parent,
    junctionColumns: [
      ...parent.map(({ column }) => sql`${column}`),
      ...(through?.accepts ? allFields(through.resource).fields.map(field => field.selection) : []),
    ],
    // The shape contains `through`, because the junction table and the target table can have a tenant column of the same name.
    conditions: through && through.scope.length > 0 ? [fromClauses(shape`through`, through.scope, () => joinAnd(through.scope, true))] : [],
  }
}
