/** Converts primary keys to columns of the closure and back. If the keys of the tables have different types, the column contains text. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import { sqlTypeOf } from '../../../../drizzle/index'
import { bytewise } from '../../../../engines/dialects/index'
import { withoutSerial } from '../../../../engines/dialects/column'
import type { GraphNode } from '../../../../schema/graph'
import { sameBytes } from '../../../sql/conditions'
import { adapterOf, CLOSURE, key, list, primaryKeyOf, TABLE, tableNumber, widthOf, type Closure } from './closure'

/** `id, null`. A table with a shorter primary key has NULL in the remaining columns. */
export function keyList(closure: Closure, node: GraphNode): SQL {
  return list(Array.from({ length: widthOf(closure) }, (_, index) => encodedKey(closure, node, index)))
}

/** Converts a key column of a table to the type of the closure column. */
export function encodedKey(closure: Closure, node: GraphNode, index: number, aliased = (column: Column): Column => column): SQL {
  const column = primaryKeyOf(node)[index]
  const value = column ? sql`${aliased(column)}` : sql`null`
  return isMixed(closure, index) ? adapterOf(closure).toText(value) : value
}

/** Converts a closure column to the type of the table's key. CASE excludes rows of other tables, because their keys can be text. */
export function decodedKey(closure: Closure, node: GraphNode, index: number, prefix: SQL = sql``): SQL {
  const value = sql`${prefix}${key(index)}`
  if (!isMixed(closure, index)) return value
  return adapterOf(closure).fromText(
    sql`case when ${prefix}${TABLE} = ${tableNumber(closure, node)} then ${value} end`,
    primaryKeyOf(node)[index]!,
  )
}

/** `reached.k0` */
export const reachedKey = (closure: Closure, node: GraphNode, index: number) => decodedKey(closure, node, index, sql`${CLOSURE}.`)

/** Compares a foreign key column with the referenced value, byte by byte. */
export const sameKey = (column: Column, value: SQL) => sameBytes(column, value, bytewise(column))

function isMixed(closure: Closure, index: number): boolean {
  if (!adapterOf(closure).typedColumns) return false
  const types = closure.dependents.nodes.map((node) => {
    const column = primaryKeyOf(node)[index]
    return column && sqlTypeOf(column)
  })
  return new Set(types.map(type => type && withoutSerial(type))).size > 1
}
