/** Primary keys as columns of the closure: tables whose keys have different types share them as text. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import { bytewise } from '../../../../engines/dialects/index'
import { withoutSerial } from '../../../../engines/dialects/column'
import type { GraphNode } from '../../../../schema/graph'
import { sameBytes } from '../../../sql/clause'
import { adapterOf, CLOSURE, key, list, primaryKeyOf, TABLE, tableNumber, widthOf, type Closure } from './closure'

/** `id, null` */
export function keyList(closure: Closure, node: GraphNode): SQL {
  return list(Array.from({ length: widthOf(closure) }, (_, index) => encodedKey(closure, node, index)))
}

/** A key column of a table as a column of the closure. */
export function encodedKey(closure: Closure, node: GraphNode, index: number): SQL {
  const column = primaryKeyOf(node)[index]
  const value = column ? sql`${column}` : sql`null`
  return isMixed(closure, index) ? adapterOf(closure).toText(value) : value
}

/** A column of the closure with the type of the table's own key. CASE excludes the rows of other tables, whose keys might be text. */
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

/** A foreign key and what it references hold the same bytes. */
export const sameKey = (column: Column, value: SQL) => sameBytes(column, value, bytewise(column))

function isMixed(closure: Closure, index: number): boolean {
  if (!adapterOf(closure).typedColumns) return false
  const types = closure.dependents.nodes.map(node => primaryKeyOf(node)[index]?.getSQLType())
  return new Set(types.map(type => type && withoutSerial(type))).size > 1
}
