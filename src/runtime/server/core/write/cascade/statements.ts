/**
 * Builds the statements that delete, restore and purge dependents. Each statement contains the recursive query `reached` (see
 * `withClosure`), which finds its rows. So the number of statements depends on the schema, not on the number of rows.
 *
 * Columns of `reached`: `t` is the number of the row's table, `k0`, `k1` … are its primary key, `g` is the `deletionId` that the row has
 * or gets. All rows that one delete moves to the trash share it.
 */
import { is, SQL, type Column } from 'drizzle-orm'
import { trashColumnsOf } from '../../../../shared/column-roles'
import type { WriteStatement } from '../../../engines/engine'
import { encodeValue } from '../../../drizzle/index'
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import { columnOf, type GraphNode } from '../../../schema/graph'
import type { Call } from '../../request/session'
import {
  changeWithGroup,
  changeRows,
  groupOf,
  inRows,
  keepsDeletionId,
  primaryKeyOf,
  selectReferenced,
  selectKeys,
  tuple,
  withClosure,
  type Closure,
} from './closure/index'
import { not } from '../../sql/conditions'
import { statement } from '../../sql/parameterize'
import { joined, value, where, type Part, type Where } from '../../sql/where'
import { columnName } from '../../commit/columns'

/** `update child set deleted_at = ?, deletion_id = reached.g from reached where deleted_at is null and t = 1 and id = k0` */
export function trashStatement(
  call: Call,
  closure: Closure,
  node: GraphNode,
  values: readonly { readonly column: Column, readonly value: unknown }[],
): WriteStatement {
  const { root } = closure.dependents
  const { deletionId, deletedAt } = node.roles
  const assign = (column: Column, assigned: Part) => where`${columnName(call.engine, { column })} = ${assigned}`
  const update = changeWithGroup(closure, node, {
    set: [
      ...values.map(({ column, value: assigned }) => assign(column, value(assigned))),
      ...deletionId && root.roles.deletionId ? [assign(deletionId, groupOf(closure, node))] : [],
    ],
    where: where`${deletedAt!} is null`,
  })
  return statement(call, where`${update}`)
}

/**
 * `update child set deleted_at = null, … where id in (…) and deleted_at is not null and not (…)`
 * @param except the condition for rows that another statement of the commit restores
 */
export function restoreStatement(call: Call, closure: Closure, node: GraphNode, except: Where | undefined): WriteStatement {
  const { deletionId, ...rest } = trashColumnsOf(node.roles)
  const columns = [...Object.values(rest), ...deletionId && !keepsDeletionId(closure, node) ? [deletionId] : []]
  const isTrashed = where`${node.roles.deletedAt!} is not null`
  const update = changeRows(closure, node, primaryKeyOf(node), selectKeys(closure, node), {
    set: columns.map(column => where`${columnName(call.engine, { column })} = null`),
    where: except ? where`${isTrashed} and ${not(except)}` : isTrashed,
  })
  return statement(call, where`${update}`)
}

/** `delete from child where id in (…)` */
export const removeStatement = (call: Call, closure: Closure, node: GraphNode): WriteStatement =>
  statement(call, where`${changeRows(closure, node, primaryKeyOf(node), selectKeys(closure, node), {})}`)

/**
 * `update child set parent_id = null where parent_id in (…)`. Runs before the referenced rows are deleted, for foreign keys with
 * `on delete set null` or `on delete set default`.
 */
export function clearReferencesStatement(
  call: Call,
  closure: Closure,
  edge: ForeignKeyFacts,
  child: GraphNode,
  parent: GraphNode,
): WriteStatement {
  const columns = edge.columns.map(name => columnOf(child.facts, name))
  const cleared = (column: Column) => edge.onDelete === 'set default' ? defaultOf(column) : NULL
  const update = changeRows(closure, child, columns, selectReferenced(closure, edge, parent), {
    set: columns.map(column => where`${columnName(call.engine, { column })} = ${cleared(column)}`),
  })
  return statement(call, where`${update}`)
}

const NULL = where`null`

/** Returns the default of a column as a value or as SQL, because SQLite does not accept `set a = default`. */
function defaultOf(column: Column): Part {
  const { default: defaultValue } = column
  if (defaultValue === undefined || defaultValue === null) return NULL
  return is(defaultValue, SQL) ? defaultValue : value(encodeValue(column, defaultValue))
}

/** `select 1 from child where parent_id in (…) and … limit 1`. If it finds a row, the commit is rolled back. */
export function restrictStatement(
  call: Call,
  closure: Closure,
  edge: ForeignKeyFacts,
  child: GraphNode,
  parent: GraphNode,
): WriteStatement {
  const columns = edge.columns.map(name => columnOf(child.facts, name))
  const conditions = [
    ...closure.followedRows === 'active' && child.roles.deletedAt ? [where`${child.roles.deletedAt} is null`] : [],
    inRows(closure, columns, selectReferenced(closure, edge, parent)),
    ...closure.dependents.nodes.includes(child) ? [not(where`${tuple(primaryKeyOf(child))} in (${selectKeys(closure, child)})`)] : [],
  ]
  const select = statement(call, where`${withClosure(closure)} select 1 from ${child.table} where ${joined(conditions, ' and ')} limit 1`)
  return { ...select, returnsRows: true, expectedRows: 0 }
}

/**
 * `select 1 from child where deleted_at is null and parent_id in (…) limit 1`. If it finds a row, another transaction has inserted a
 * dependent during the delete. The commit then runs again.
 */
export function missedRowsStatement(
  call: Call,
  closure: Closure,
  edge: ForeignKeyFacts,
  child: GraphNode,
  parent: GraphNode,
): WriteStatement {
  const columns = edge.columns.map(name => columnOf(child.facts, name))
  const references = inRows(closure, columns, selectReferenced(closure, edge, parent))
  const isMissed = where`${child.roles.deletedAt!} is null and ${references}`
  const select = statement(call, where`${withClosure(closure)} select 1 from ${child.table} where ${isMissed} limit 1`)
  return { ...select, returnsRows: true, expectedRows: 0, retry: true }
}
