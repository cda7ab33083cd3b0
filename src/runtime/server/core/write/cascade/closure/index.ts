/** Builds the recursive query that finds the rows of a cascade, and the statements over these rows, in the dialect of the tables. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import type { Dialect } from '../../../../../shared/dialects'
import type { ForeignKeyFacts } from '../../../../schema/drizzle/foreign-keys'
import type { GraphNode } from '../../../../schema/graph'
import {
  CLOSURE,
  GROUP,
  key,
  list,
  primaryKeyOf,
  TABLE,
  tableNumber,
  TIME,
  widthOf,
  type Closure,
  type ClosureSql,
  type RowChange,
} from './closure'
import { keyList, reachedKey } from './keys'
import { memoized } from '../../../memoized'
import { template } from '../../../sql/parameterize'
import type { Where } from '../../../sql/where'
import type { Dependents } from '../dependents'
import { mysql } from './mysql'
import { pg } from './pg'
import { sqlite } from './sqlite'

export { fromClosure } from './nearest-root'
export { CLOSURE, columnsOf, GROUP, keepsDeletionId, primaryKeyOf, tuple, type Closure, type FollowedRows } from './closure'

const DIALECTS: Readonly<Record<Dialect, ClosureSql>> = { sqlite, pg, mysql }
const sqlOf = ({ dependents }: Closure) => DIALECTS[dependents.root.facts.dialect]

/**
 * The columns `t`, `k0`, `g` and `d` are those of `CLOSURE`.
 *
 * with recursive reached(t, k0, g, d) as (
 *   select 0, id, deletion_id, deleted_at from posts where deletion_id in (…)
 *   union select 1, comments.id, reached.g, reached.d from reached inner join comments on … where reached.t = 0 and …
 * )
 */
export function withClosure(closure: Closure): Where {
  const { start, dependents, ...kind } = closure
  const texts = textsOf(dependents)
  const key = JSON.stringify(kind)
  let text = texts.get(key)
  if (!text) texts.set(key, text = template(start => closureSql(closure, start)))
  return text(start)
}

/** The recursive queries by kind. They are long, so they are built once, around the condition that selects the start rows. */
const textsOf = memoized((_: Dependents) => new Map<string, (start: Where) => Where>())

function closureSql(closure: Closure, start: SQL): SQL {
  const { dependents: { root } } = closure
  const { deletionId, deletedAt } = root.roles
  const names = list([TABLE, ...Array.from({ length: widthOf(closure) }, (_, index) => key(index)), GROUP, TIME])
  const group = sql`${deletionId ?? sql`null`}, ${deletedAt ?? sql`null`}`
  const first = sql`select ${tableNumber(closure, root)}, ${keyList(closure, root)}, ${group} from ${root.table} where ${start}`
  return sql`with recursive ${CLOSURE}(${names}) as (${first}${sqlOf(closure).recursion(closure)})`
}

/** Updates or deletes the rows of `node` whose `columns` are in the result of the query `rows`. */
export function changeRows(closure: Closure, node: GraphNode, columns: readonly Column[], rows: SQL, change: RowChange): SQL {
  return sqlOf(closure).changeRows(withClosure(closure), node, columns, rows, change)
}

/** Updates the reached rows of a table. The assignments can use {@link groupOf}. */
export function changeWithGroup(closure: Closure, node: GraphNode, change: Required<RowChange>): SQL {
  return sqlOf(closure).changeWithGroup(closure, withClosure(closure), node, change)
}

/** Returns the group of a reached row, for an assignment of {@link changeWithGroup}. */
export function groupOf(closure: Closure, node: GraphNode): SQL {
  return sqlOf(closure).groupOf(closure, node)
}

/** Selects the primary keys of the reached rows of a table. */
export function selectKeys(closure: Closure, node: GraphNode): SQL {
  return sqlOf(closure).selectKeys(closure, node)
}

/** Selects the columns that the foreign key `edge` references, from the reached rows of `parent`. */
export function selectReferenced(closure: Closure, edge: ForeignKeyFacts, parent: GraphNode): SQL {
  return sqlOf(closure).selectReferenced(closure, edge, parent)
}

/** Returns the condition that the columns are in the result of a query. It compares values byte by byte. */
export function inRows(closure: Closure, columns: readonly Column[], rows: SQL): SQL {
  return sqlOf(closure).inRows(columns, rows)
}

/** The rows of a table that a statement changes: active rows, rows in the trash, or all. */
export type TrashState = 'active' | 'trashed' | 'all'

export function inTrashState({ roles: { deletedAt } }: GraphNode, trash: TrashState): SQL {
  if (!deletedAt || trash === 'all') return sql`1 = 1`
  return trash === 'active' ? sql`${deletedAt} is null` : sql`${deletedAt} is not null`
}

/** `reached.t = 1 and child.id = reached.k0`, for a statement that joins `reached`. */
export function isReached(closure: Closure, node: GraphNode): SQL {
  const keys = primaryKeyOf(node).map((column, index) => sql`${column} = ${reachedKey(closure, node, index)}`)
  return sql.join([sql`${CLOSURE}.${TABLE} = ${tableNumber(closure, node)}`, ...keys], sql` and `)
}
