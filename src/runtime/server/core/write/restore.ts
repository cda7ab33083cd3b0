/** The operations of a restore: lock the rows, take their dependents out of the trash, then the rows themselves. */
import { trashColumnsOf } from '../../../shared/column-roles'
import { keyClauses } from '../plan/read'
import { cascadeOperations } from './cascade/cascaded-rows'
import { clearDeletionIdStatement } from './cascade/cycle'
import type { Dependents } from './cascade/dependents'
import { restoreStatement } from './cascade/statements'
import { reportKey, withReported } from '../commit/changes/report'
import type { WriteOperation } from '../commit/operation'
import { snapshotOperations } from '../commit/snapshot'
import { updateStatement } from '../commit/update'
import { decoder } from '../read/rows/decode'
import type { BuildOperations } from './build-operations'
import { conditionOperations } from './conditions'
import { closureOf, dependentTables } from './dependents'
import { namedRowsOf } from './items'
import { lockRows } from './locks'
import { returnedFields, returningRow } from './returned-rows'
import { rowClauses } from './row-clauses'
import { keysClause } from './targets'

export const restoreOperations: BuildOperations = (plan, items, written, call) => {
  const { resource } = plan
  const closure = closureOf(plan, items, call, 'grouped')
  const { root, cyclic } = closure.dependents
  const clearedTrashColumns = Object.fromEntries(Object.values(trashColumnsOf(resource.roles)).map(({ name }) => [name, null]))
  const tables = dependentTables(closure, node => node.roles.deletedAt !== undefined && !plan.groupRows?.has(node.table))
  // `updates` restores the rows that the request names, so the cascade statements leave them out.
  const except = (node: Dependents['root']) => node === root ? keysClause(plan, items, call) : undefined
  const groupedTables = cyclic ? tables.filter(node => node.roles.deletionId && root.roles.deletionId) : []
  const selection = returnedFields(plan)
  const columns = withReported(call, resource, selection)
  const decode = decoder(columns, selection)
  const updates = items.map((item): WriteOperation => {
    const statement = updateStatement(
      call,
      resource,
      clearedTrashColumns,
      rowClauses(plan, item),
      columns,
      keyClauses(resource, item.key!),
    )
    return {
      ...returningRow(statement, item, written, decode),
      // A dry run of a restore returns no record.
      predict: () => void written.set(item.index, {}),
      changes: reportKey(call, resource, 'restore', item.key!, columns, clearedTrashColumns),
    }
  })
  return [
    ...lockRows(plan, items, call),
    ...conditionOperations(plan, items, call),
    ...snapshotOperations(call, resource, [keysClause(plan, items, call), ...plan.scope], true),
    ...cascadeOperations(call, closure, tables, { kind: 'restore', trash: 'trashed', named: namedRowsOf(plan, items), except }),
    // Restores children before parents, because each statement reads the `deletionId` of the parent rows. In a cycle, every table is a
    // parent. All rows of a cycle keep their `deletionId` until the other trash columns are cleared.
    ...tables.map(node => ({ statement: restoreStatement(call, closure, node, except(node)) })),
    ...groupedTables.map(node => ({ statement: clearDeletionIdStatement(call, closure, node) })),
    ...updates,
  ]
}
