/** The recursion for D1. D1 allows few UNION terms per statement, so one term follows all foreign keys. */
import { aliasedTable, getTableColumns, sql, type Column, type SQL } from 'drizzle-orm'
import type { ForeignKeyFacts } from '../../../../schema/drizzle/foreign-keys'
import type { GraphNode } from '../../../../schema/graph'
import {
  all,
  CLOSURE,
  columnsOf,
  GROUP,
  key,
  list,
  primaryKeyOf,
  referencedColumnsOf,
  TABLE,
  tableNumber,
  TIME,
  widthOf,
  type Closure,
} from './closure'
import { sameKey } from './keys'
import { inRows } from './standard'
import { childOf, trashCondition, parentOf } from './steps'

/**
 * The query numbers the foreign keys and joins each reached row with each number. `e.value` is the number, and `e0` is the child table
 * of foreign key 0. CASE selects the columns of the child table with that number.
 * The columns `t`, `k0`, `g` and `d` are those of `CLOSURE`.
 *
 * union select case e.value when 0 then 1 … end, case e.value when 0 then e0.id … end, reached.g, reached.d
 * from reached cross join json_each('[0,1,…]') as e left join comments as e0 on e.value = 0 and reached.t = 0 and e0.post_id = reached.k0 …
 * where case e.value when 0 then e0.id … end is not null
 */
export function singleTermRecursion(closure: Closure): SQL {
  const alias = sql.identifier('e')
  const number = sql`${alias}.${sql.identifier('value')}`
  const entries = closure.dependents.edges.map((edge, index) => toEntry(closure, edge, index))
  const choose = (value: (entry: Entry) => unknown) =>
    sql`case ${number} ${sql.join(entries.map((entry, index) => sql`when ${sql.raw(String(index))} then ${value(entry)}`), sql` `)} end`
  const keys = Array.from({ length: widthOf(closure) }, (_, index) => choose(({ child, aliased }) => {
    const column = primaryKeyOf(child)[index]
    return column ? aliased(column) : sql`null`
  }))
  const joins = entries.map(
    ({ table, edge, child, parent, aliased }, index) =>
      sql` left join ${table} on ${all([
        sql`${number} = ${sql.raw(String(index))}`,
        sql`${CLOSURE}.${TABLE} = ${tableNumber(closure, parent)}`,
        references(edge, child, parent, aliased),
      ])}${trashCondition(closure, child, aliased)}`,
  )
  const numbers = sql`json_each(${sql.raw(`'[${entries.map((_, index) => index)}]'`)}) as ${alias}`
  const columns = [choose(({ child }) => tableNumber(closure, child)), ...keys, sql`${CLOSURE}.${GROUP}`, sql`${CLOSURE}.${TIME}`]
  return sql` union select ${list(columns)} from ${CLOSURE} cross join ${numbers}${sql.join(joins, sql``)} where ${keys[0]} is not null`
}

interface Entry {
  readonly edge: ForeignKeyFacts
  readonly child: GraphNode
  readonly parent: GraphNode
  /** `comments as e0` */
  readonly table: SQL
  /** Returns the column of the child with the alias as its table: `e0.id`. */
  readonly aliased: (column: Column) => Column
}

function toEntry(closure: Closure, edge: ForeignKeyFacts, index: number): Entry {
  const child = childOf(closure, edge)
  const columns = getTableColumns(aliasedTable(child.table, `e${index}`))
  return {
    edge,
    child,
    parent: parentOf(closure, edge),
    table: sql`${child.table} as ${sql.identifier(`e${index}`)}`,
    aliased: column => columns[child.facts.columns.find(facts => facts.column === column)!.name]!,
  }
}

/** `e0.post_id = reached.k0`. A subquery reads the parent if the foreign key references columns other than its primary key. */
function references(edge: ForeignKeyFacts, child: GraphNode, parent: GraphNode, aliased: Entry['aliased']): SQL {
  const columns = columnsOf(edge, child).map(aliased)
  const positions = edge.foreignColumns.map(name => parent.facts.primaryKey.indexOf(name))
  if (!positions.includes(-1)) return all(columns.map((column, index) => sameKey(column, sql`${CLOSURE}.${key(positions[index]!)}`)))
  const isReached = primaryKeyOf(parent).map((column, index) => sql`${column} = ${CLOSURE}.${key(index)}`)
  return inRows(columns, sql`select ${list(referencedColumnsOf(edge, parent))} from ${parent.table} where ${all(isReached)}`)
}
