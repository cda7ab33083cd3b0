/** Selects the rows of a cascade in SQL, for engines on which code cannot use the rows that a commit reads. */
import type { Column, Table } from 'drizzle-orm'
import { trashColumnsOf } from '../../../../shared/column-roles'
import type { GraphNode } from '../../../schema/graph'
import { toId, type Key } from '../../../schema/record-id'
import type { Change } from '../../extensions/changes'
import type { Call } from '../../request/session'
import { inTuples } from '../../sql/list/index'
import type { ChangeReport } from '../../commit/changes/report'
import type { AssignedValues, RowSource } from '../../commit/changes/source'
import { changedTable } from '../../commit/changes/table'
import {
  fromClosure,
  groupOf,
  inTrashState,
  isReached,
  primaryKeyOf,
  selectKeys,
  tuple,
  withClosure,
  type Closure,
  type TrashState,
} from './closure/index'
import { not } from '../../sql/conditions'
import { joined, where, type Where } from '../../sql/where'

/** The rows that a commit reports as named, by table. The purge of a group names rows of several tables. */
export type NamedRows = ReadonlyMap<Table, readonly Key[]>

/** Describes which reached rows a statement changes. */
export interface CascadedRows {
  readonly kind: Change['kind']
  /** The statement changes only reached rows in this state. */
  readonly trash: TrashState
  /** The rows that the request names. They are not reported as cascaded. */
  readonly named: NamedRows
  /** Returns the driver values that the statement assigns to columns of a table. It also sets `deletionId`. */
  readonly assigned?: (node: GraphNode) => readonly { readonly column: Column, readonly value: unknown }[]
  /** Returns a condition for the reached rows of a table that the statement does not change. */
  readonly except?: (node: GraphNode) => Where | undefined
}

export function sourceOfCascade(
  call: Call,
  closure: Closure,
  node: GraphNode,
  rows: CascadedRows,
): Pick<ChangeReport, 'source' | 'assigned'> {
  return { source: cascadedSource(call, closure, node, rows), assigned: assignedValues(call, closure, node, rows) }
}

/**
 * ` from child where deleted_at is null and id in (select k0 from reached …) and not (id in (…))`. For a delete, the source joins
 * `reached`, because each row gets the `deletionId` of the row that it descends from.
 */
function cascadedSource(call: Call, closure: Closure, node: GraphNode, { kind, trash, named, except: exceptOf }: CascadedRows): RowSource {
  const excepted = [exceptOf?.(node), namedRows(call, node, named)].filter(condition => condition !== undefined)
  const [from, reached] = kind === 'delete'
    ? [where`${node.table}, ${fromClosure(closure)}`, isReached(closure, node)]
    : [where`${node.table}`, where`${tuple(primaryKeyOf(node))} in (${selectKeys(closure, node)})`]
  const isChanged = joined([inTrashState(node, trash), reached, ...excepted.map(not)], ' and ')
  return { with: withClosure(closure), from: where` from ${from} where ${isChanged}` }
}

/** Matches the rows of a table that the commit reports as named. */
export function namedRows(call: Call, node: GraphNode, named: NamedRows): Where | undefined {
  const keys = named.get(node.table) ?? []
  if (keys.length === 0) return undefined
  const { primaryKey } = changedTable(call, node)
  return inTuples(call.engine, primaryKey, keys.map(key => key.map((value, at) => primaryKey[at]!.encode(value))))
}

/** The ids of the rows of a table that the commit reports as named. */
export const namedIds = (call: Call, node: GraphNode, named: NamedRows): ReadonlySet<string> =>
  new Set((named.get(node.table) ?? []).map(key => toId(changedTable(call, node), key)))

function assignedValues(call: Call, closure: Closure, node: GraphNode, { kind, assigned }: CascadedRows): AssignedValues {
  const { row: { fields } } = changedTable(call, node)
  const values = new Map<Column, unknown>(kind === 'restore'
    ? Object.values(trashColumnsOf(node.roles)).map(column => [column, null])
    : assigned?.(node).map(({ column, value }) => [column, value]))
  const { deletionId } = node.roles
  if (kind === 'delete' && deletionId && closure.dependents.root.roles.deletionId) values.set(deletionId, groupOf(closure, node))
  return new Map(fields.filter(({ column }) => values.has(column)).map(field => [field, values.get(field.column)]))
}
