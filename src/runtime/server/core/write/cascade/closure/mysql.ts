/**
 * The closure on MySQL and MariaDB. MySQL cannot read a table in the statement that changes it, except in a derived table. MariaDB does
 * not accept WITH before UPDATE. So UPDATE and DELETE contain the WITH clause in a derived table.
 */
import { sql, type Column, type SQL } from 'drizzle-orm'
import { bytewise } from '../../../../engines/dialects/index'
import type { GraphNode } from '../../../../schema/graph'
import type { Part } from '../../../sql/where'
import {
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
  type RowChange,
} from './closure'
import { decodedKey, sameKey } from './keys'
import { fromClosure } from './nearest-root'
import { singleTermRecursion } from './single-term'
import { unionRecursion } from './union'

const DERIVED = sql.identifier('picked')
const EXACT = sql.identifier('exact')
/** Returns the alias of a column in a derived table: `p0`, `p1` … */
const column = (index: number) => sql.identifier(`p${index}`)

export const mysql: ClosureSql = {
  recursion,
  changeRows,
  changeWithGroup: (closure, withClosure, node, change) =>
    changeRows(
      withClosure,
      node,
      primaryKeyOf(node),
      sql`select ${list([...aliasedKeys(closure, node), GROUP])} from ${
        fromClosure(closure)
      } where ${TABLE} = ${tableNumber(closure, node)}`,
      change,
    ),
  groupOf: () => sql`${DERIVED}.${GROUP}`,
  /** `select k0 as p0 from reached where t = 1` */
  selectKeys: (closure, node) =>
    sql`select ${list(aliasedKeys(closure, node))} from ${CLOSURE} where ${TABLE} = ${tableNumber(closure, node)}`,
  /** `select distinct slug as p0 from reached inner join posts on id = k0 where reached.t = 0` */
  selectReferenced(closure, edge, parent) {
    const isReached = primaryKeyOf(parent).map((own, index) => sql`${own} = ${decodedKey(closure, parent, index)}`)
    const referenced = referencedColumnsOf(edge, parent).map((own, index) => sql`${own} as ${column(index)}`)
    const from = sql`${CLOSURE} inner join ${parent.table} on ${all(isReached)}`
    return sql`select distinct ${list(referenced)} from ${from} where ${CLOSURE}.${TABLE} = ${tableNumber(closure, parent)}`
  },
  /** `(a in (select …) and cast(a as binary) in (select cast(p0 as binary) from (select …) as exact))` */
  inRows(columns, rows) {
    const bytes = columns.map(own => bytewise(own))
    const plain = sql`${tuple(columns)} in (${rows})`
    if (!bytes.some(bytes => bytes)) return plain
    const exact = (values: readonly unknown[]) => values.map((value, index) => bytes[index]?.operand(sql`${value}`) ?? value)
    const right = list(exact(columns.map((_, index) => column(index))))
    return sql`(${plain} and ${tuple(exact(columns))} in (select ${right} from (${rows}) as ${EXACT}))`
  },
}

/** MariaDB plans seven recursive terms in 10 ms and 14 in minutes, with all memory of the server. It plans up to five in 1 ms. */
const MAX_TERMS = 5
/** A query joins at most 61 tables. */
const KEYS_PER_TERM = 50

function recursion(closure: Closure): SQL {
  const { edges } = closure.dependents
  if (edges.length <= MAX_TERMS) return unionRecursion(closure)
  const terms = Array.from({ length: Math.ceil(edges.length / KEYS_PER_TERM) }, (_, index) =>
    singleTermRecursion(closure, numbersBelow, edges.slice(index * KEYS_PER_TERM, (index + 1) * KEYS_PER_TERM)))
  return sql.join(terms, sql``)
}

/** `(select 0 as value union all select 1)` */
const numbersBelow = (count: number) =>
  sql.raw(`(${Array.from({ length: count }, (_, number) => `select ${number}${number === 0 ? ' as value' : ''}`).join(' union all ')})`)

/**
 * `update (with recursive reached … select k0 as p0 from reached …) as picked inner join child on id = p0 set … where …`,
 * `delete from child where id in (select p0 from (with recursive reached … select k0 as p0 from reached …) as picked)`
 */
function changeRows(withClosure: Part, node: GraphNode, columns: readonly Column[], rows: SQL, { set, where }: RowChange): SQL {
  const derived = sql`(${withClosure} ${rows}) as ${DERIVED}`
  if (!set) {
    const names = list(columns.map((_, index) => column(index)))
    return sql`delete from ${node.table} where ${tuple(columns)} in (select ${names} from ${derived})`
  }
  const join = all(columns.map((own, index) => sameKey(own, sql`${DERIVED}.${column(index)}`)))
  return sql`update ${derived} inner join ${node.table} on ${join} set ${list(set)}${where ? sql` where ${where}` : sql``}`
}

/** `k0 as p0, k1 as p1` */
const aliasedKeys = (closure: Closure, node: GraphNode) =>
  primaryKeyOf(node).map((_, index) => sql`${decodedKey(closure, node, index)} as ${column(index)}`)
