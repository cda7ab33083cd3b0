/** The statements over a closure on SQLite and Postgres. Both accept a WITH clause before UPDATE and DELETE. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import { bytewise } from '../../../../engines/dialects/index'
import type { GraphNode } from '../../../../schema/graph'
import {
  adapterOf,
  all,
  CLOSURE,
  GROUP,
  list,
  primaryKeyOf,
  referencedColumnsOf,
  TABLE,
  tableNumber,
  tuple,
  type Closure,
  type ClosureSql,
} from './closure'
import { decodedKey, reachedKey } from './keys'
import { fromClosure } from './nearest-root'

export const standard: Omit<ClosureSql, 'recursion'> = {
  /** `with recursive reached … update child set … where … and id in (select k0 from reached …)` */
  changeRows(withClosure, node, columns, rows, { set, where }) {
    const command = set ? sql`update ${node.table} set ${list(set)}` : sql`delete from ${node.table}`
    const matches = isPrimaryKey(node, columns) ? sql`${tuple(columns)} in (${rows})` : inRows(columns, rows)
    return sql`${withClosure} ${command} where ${where ? sql`${where} and ` : sql``}${matches}`
  },
  /**
   * `with recursive reached … update child set … from reached where … and reached.t = 1 and child.id = reached.k0`. The statement
   * joins `reached`, because a subquery that finds the group of each row would take quadratic time.
   */
  changeWithGroup(closure, withClosure, node, { set, where }) {
    const isReached = primaryKeyOf(node).map((column, index) => sql`${column} = ${reachedKey(closure, node, index)}`)
    const conditions = all([where, sql`${CLOSURE}.${TABLE} = ${tableNumber(closure, node)}`, ...isReached])
    return sql`${withClosure} update ${node.table} set ${list(set)} from ${fromClosure(closure)} where ${conditions}`
  },
  groupOf: (closure, node) =>
    adapterOf(closure).convert(sql`${CLOSURE}.${GROUP}`, closure.dependents.root.roles.deletionId!, node.roles.deletionId!),
  selectKeys,
  /** `select slug from posts where id in (select k0 from reached where t = 0)` */
  selectReferenced(closure, edge, parent) {
    const isReached = sql`${tuple(primaryKeyOf(parent))} in (${selectKeys(closure, parent)})`
    return sql`select ${list(referencedColumnsOf(edge, parent))} from ${parent.table} where ${isReached}`
  },
  inRows,
}

/** `select k0 from reached where t = 1` */
function selectKeys(closure: Closure, node: GraphNode): SQL {
  const keys = primaryKeyOf(node).map((_, index) => decodedKey(closure, node, index))
  return sql`select ${list(keys)} from ${CLOSURE} where ${TABLE} = ${tableNumber(closure, node)}`
}

/** A primary key is unique under its collation, so only one spelling of a key exists. It needs no comparison by bytes. */
const isPrimaryKey = (node: GraphNode, columns: readonly Column[]) =>
  primaryKeyOf(node).every((column, index) => column === columns[index])

/** `(a, b) in (select …)`. If a column has a collation: `(a in (select …) and a collate binary in (select …))`. */
export function inRows(columns: readonly Column[], rows: SQL): SQL {
  const bytes = columns.map(column => bytewise(column))
  const plain = sql`${tuple(columns)} in (${rows})`
  const condition = bytes.find(bytes => bytes)?.condition
  if (!condition) return plain
  const exact = columns.map((column, index) => bytes[index]?.operand(sql`${column}`) ?? column)
  return sql`(${plain} and ${condition(sql`${tuple(exact)} in (${rows})`)})`
}
