/** The recursive query that finds the rows of a cascade, and the statements over them, in the dialect of the tables. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import type { Dialect } from '../../../../../shared/dialects'
import type { ForeignKeyFacts } from '../../../../schema/drizzle/foreign-keys'
import type { GraphNode } from '../../../../schema/graph'
import { CLOSURE, GROUP, key, list, TABLE, tableNumber, TIME, widthOf, type Closure, type ClosureSql, type RowChange } from './closure'
import { keyList } from './keys'
import { mysql } from './mysql'
import { pg } from './pg'
import { sqlite } from './sqlite'

export { CLOSURE, closureShape, columnsOf, GROUP, keepsDeletionId, primaryKeyOf, tuple, type Closure, type FollowedRows } from './closure'

const DIALECTS: Readonly<Record<Dialect, ClosureSql>> = { sqlite, pg, mysql }
const sqlOf = ({ dependents }: Closure) => DIALECTS[dependents.root.facts.dialect]

/**
 * with recursive reached(t, k0, g, d) as (
 *   select 0, id, deletion_id, deleted_at from posts where deletion_id in (…)
 *   union select 1, comments.id, reached.g, reached.d from reached inner join comments on … where reached.t = 0 and …
 * )
 */
export function withClosure(closure: Closure): SQL {
  const { start, dependents: { root } } = closure
  const { deletionId, deletedAt } = root.roles
  const names = list([TABLE, ...Array.from({ length: widthOf(closure) }, (_, index) => key(index)), GROUP, TIME])
  const group = sql`${deletionId ?? sql`null`}, ${deletedAt ?? sql`null`}`
  const first = sql`select ${tableNumber(closure, root)}, ${keyList(closure, root)}, ${group} from ${root.table} where ${start.build()}`
  return sql`with recursive ${CLOSURE}(${names}) as (${first}${sqlOf(closure).recursion(closure)})`
}

/** Updates or deletes the rows of a table whose columns are among those of a query. */
export function changeRows(closure: Closure, node: GraphNode, columns: readonly Column[], rows: SQL, change: RowChange): SQL {
  return sqlOf(closure).changeRows(withClosure(closure), node, columns, rows, change)
}

/** Updates the reached rows of a table; the assignments can use {@link groupOf}. */
export function changeWithGroup(closure: Closure, node: GraphNode, change: Required<RowChange>): SQL {
  return sqlOf(closure).changeWithGroup(closure, withClosure(closure), node, change)
}

/** The group of a reached row, in {@link changeWithGroup}. */
export function groupOf(closure: Closure, node: GraphNode): SQL {
  return sqlOf(closure).groupOf(closure, node)
}

/** The primary keys of the reached rows of a table. */
export function selectKeys(closure: Closure, node: GraphNode): SQL {
  return sqlOf(closure).selectKeys(closure, node)
}

/** The columns that a foreign key references, of the reached rows of a table. */
export function selectReferenced(closure: Closure, edge: ForeignKeyFacts, parent: GraphNode): SQL {
  return sqlOf(closure).selectReferenced(closure, edge, parent)
}

/** The columns are among those of a query, byte for byte. */
export function inRows(closure: Closure, columns: readonly Column[], rows: SQL): SQL {
  return sqlOf(closure).inRows(columns, rows)
}
