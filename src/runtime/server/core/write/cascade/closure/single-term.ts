/**
 * The recursion for D1, MySQL and MariaDB: one term follows all foreign keys. D1 allows few UNION terms per statement. MariaDB needs time
 * and memory that grow exponentially with the number of recursive terms.
 */
import { aliasedTable, getTableColumns, sql, type Column, type SQL } from 'drizzle-orm'
import type { ForeignKeyFacts } from '../../../../schema/drizzle/foreign-keys'
import type { GraphNode } from '../../../../schema/graph'
import {
  all,
  CLOSURE,
  columnsOf,
  GROUP,
  list,
  primaryKeyOf,
  referencedColumnsOf,
  TABLE,
  tableNumber,
  TIME,
  widthOf,
  type Closure,
} from './closure'
import { encodedKey, reachedKey, sameKey } from './keys'
import { childOf, trashCondition, parentOf } from './steps'

/**
 * The query numbers the foreign keys and joins each reached row with each number. `e.value` is the number, and `e0` is the child table
 * of foreign key 0. CASE selects the columns of the child table with that number.
 * The columns `t`, `k0`, `g` and `d` are those of `CLOSURE`.
 *
 * union select case e.value when 0 then 1 … end, case e.value when 0 then e0.id … end, reached.g, reached.d
 * from reached cross join (select 0 as value union all select 1 …) as e
 * left join comments as e0 on e.value = 0 and reached.t + 0 = 0 and e0.post_id = reached.k0 …
 * where case e.value when 0 then e0.id … end is not null
 * @param numbersBelow returns a table with the numbers from 0 in its column `value`
 * @param edges the foreign keys that the term follows
 */
export function singleTermRecursion(
  closure: Closure,
  numbersBelow: (count: number) => SQL,
  edges = closure.dependents.edges,
): SQL {
  const alias = sql.identifier('e')
  const number = sql`${alias}.${sql.identifier('value')}`
  const entries = edges.map((edge, index) => toEntry(closure, edge, index))
  const choose = (value: (entry: Entry) => unknown) =>
    sql`case ${number} ${sql.join(entries.map((entry, index) => sql`when ${sql.raw(String(index))} then ${value(entry)}`), sql` `)} end`
  const keys = Array.from({ length: widthOf(closure) }, (_, index) => choose(({ child, aliased }) =>
    encodedKey(closure, child, index, aliased)))
  const joins = entries.map(
    (entry, index) =>
      sql` left join ${entry.table} on ${all([
        sql`${number} = ${sql.raw(String(index))}`,
        // With `+ 0`, MariaDB does not replace `t` in the CASE of a key. It would then convert the text keys of other tables to numbers.
        sql`${CLOSURE}.${TABLE} + 0 = ${tableNumber(closure, entry.parent)}`,
        references(closure, entry),
      ])}${trashCondition(closure, entry.child, entry.aliased)}`,
  )
  const columns = [choose(({ child }) => tableNumber(closure, child)), ...keys, sql`${CLOSURE}.${GROUP}`, sql`${CLOSURE}.${TIME}`]
  const from = sql`${CLOSURE} cross join ${numbersBelow(edges.length)} as ${alias}${sql.join(joins, sql``)}`
  return sql` union select ${list(columns)} from ${from} where ${keys[0]} is not null`
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
function references(closure: Closure, { edge, child, parent, aliased }: Entry): SQL {
  const keys = primaryKeyOf(parent)
  const isReached = all(keys.map((column, index) => sql`${column} = ${reachedKey(closure, parent, index)}`))
  const referenced = referencedColumnsOf(edge, parent).map((column) => {
    const position = keys.indexOf(column)
    return position === -1 ? sql`(select ${column} from ${parent.table} where ${isReached})` : reachedKey(closure, parent, position)
  })
  return all(columnsOf(edge, child).map((column, index) => sameKey(aliased(column), referenced[index]!)))
}
