/** The SELECT that reads the children of all parents of one include. */
import { sql } from 'drizzle-orm'
import type { Statement } from '../../../engines/engine'
import type { Relation } from '../../../schema/model'
import type { Call } from '../../request/session'
import { allFields, type Selection } from '../../access/fields'
import { orderJoins, orderList } from '../../sql/keyset'
import { inTuples } from '../../sql/list/index'
import { joinCondition } from '../rows/junction'
import type { ScopedInclude } from '../rows/join'
import { conditions, selectList } from '../rows/select'
import { and, whereClause, type ComparableColumn } from '../../sql/conditions'
import { statement } from '../../sql/parameterize'
import type { Compiled } from '../../sql/statement-cache'
import { EMPTY, commaList, joined, value, where, type Part, type Where } from '../../sql/where'
import { memoized } from '../../memoized'

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
  call: Call,
): Statement & { readonly attempts: Attempts } {
  const { relation, plan, through } = include
  const conditionsOf = [inTuples(call.engine, parentColumns(relation), parents), ...conditions(plan), ...linkConditions(through)]
  const source = sourceOf(relation, through?.accepts !== undefined)
  const rows = where`${source.from}${orderJoins(plan.order)}${whereClause(conditionsOf)}`
  const selected = [selectList(columns), ...source.junctionColumns]
  const text = perParent === undefined
    ? where`select ${commaList(selected)} from ${rows}${orderOf(include)} limit ${value(maxRows)}`
    : rankedStatement(include, columns, source, rows, where`${POSITION} <= ${value(perParent)} limit ${value(maxRows)}`, call)
  const found = statement(call, text)
  return { ...found, attempts: attemptsOf(found.compiled) }
}

const attemptsOf = memoized((_: Compiled): Attempts => ({ skipped: 0 }))

const POSITION = sql.identifier('auto_api_n')

function orderOf({ relation, plan }: ScopedInclude): Where {
  const first = parentColumns(relation).map(({ column }) => where`${column}, `)
  return relation.kind === 'one' ? EMPTY : where` order by ${joined(first, '')}${orderList(plan.order)}`
}

function rankedStatement(
  { relation, plan }: ScopedInclude, columns: Selection, source: Source, rows: Where, bounds: Where, { engine }: Call,
): Where {
  const partition = commaList(parentColumns(relation).map(({ column, bytes }) => bytes ? bytes.operand(sql`${column}`) : column))
  const rank = where`row_number() over (partition by ${partition} order by ${orderList(plan.order)}) as ${POSITION}`
  const rankedRows = (columns: readonly Part[]) => {
    const named = columns.map((column, index) => where`${column} as ${nameAt(index)}`)
    return where`(select ${commaList([...named, rank])} from ${rows}) as ${sql.identifier('auto_api_ranked')}`
  }
  const fields = columns.fields.map(({ selection }) => selection)
  if (!engine.blocking) {
    const all = [...fields, ...source.junctionColumns]
    return where`select ${commaList([...all.map((_, index) => nameAt(index)), POSITION])} from ${rankedRows(all)} where ${bounds}`
  }
  const { primaryKey, table } = relation.target
  const shown = [...fields, ...source.junctionColumns.map((_, index) => nameAt(primaryKey.length + index)), POSITION]
  const isRanked = joined(primaryKey.map(({ column }, index) => where`${column} = ${nameAt(index)}`), ' and ')
  const ranked = rankedRows([...primaryKey.map(({ column }) => column), ...source.junctionColumns])
  return where`select ${commaList(shown)} from ${ranked} cross join ${table} where ${isRanked} and ${bounds}`
}

const nameAt = (index: number) => sql.identifier(`auto_api_c${index}`)

/** The columns that reference the parent: those of the child, or of the junction table. */
function parentColumns(relation: Relation): readonly ComparableColumn[] {
  if (relation.kind !== 'manyToMany') return relation.foreignColumns
  const { junction } = relation
  return junction.sourceKey.columns.map(name => junction.resource.fields.get(name)!)
}

const linkConditions = (through: ScopedInclude['through']): readonly Where[] =>
  through && through.scope.length > 0 ? [and(through.scope, true)] : []

interface Source {
  /** The FROM clause of the children. */
  readonly from: Where
  /** The columns of the junction table. */
  readonly junctionColumns: readonly Part[]
}

/** @param checksLinks whether code checks the rows of the junction table, and needs all their columns */
function sourceOf(relation: Relation, checksLinks: boolean): Source {
  const { table } = relation.target
  if (relation.kind !== 'manyToMany') return { from: where`${table}`, junctionColumns: [] }
  const { resource, targetKey } = relation.junction
  const targetFields = targetKey.columns.map(name => resource.fields.get(name)!)
  return {
    from: where`${resource.table} inner join ${table} on ${joinCondition(targetFields, relation.foreignColumns)}`,
    junctionColumns: [
      ...parentColumns(relation).map(({ column }) => column),
      ...checksLinks ? allFields(resource).fields.map(({ selection }) => selection) : [],
    ],
  }
}
