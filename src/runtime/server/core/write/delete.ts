/** The operations of a delete: move the rows and their dependents to the trash, or delete the rows of a table without trash. */
import type { Call } from '../request/session'
import { keyFields } from '../access/fields'
import type { Scoped } from '../access/row-scope'
import { keyClauses } from '../plan/read'
import type { WritePlan } from '../plan/write'
import { cascadeOperations } from './cascade/cascaded-rows'
import type { Closure } from './cascade/closure/index'
import { missedRowsStatement, trashStatement } from './cascade/statements'
import { hasParticipants, reportKey, withReported } from '../commit/changes/report'
import { isWatching } from '../commit/changes/watching'
import type { WriteOperation } from '../commit/operation'
import { snapshotOperations } from '../commit/snapshot'
import { updateStatement } from '../commit/update'
import type { BuildOperations } from './build-operations'
import { databaseDeletes } from './database-effects'
import { deleteRows, snapshotRows } from './delete-rows'
import { closureOf, dependentTables, restrictOperations } from './dependents'
import { keysOf, namedRowsOf, type Item } from './items'
import { lockRows, lockSeveral } from './locks'
import { writeClauses } from './row-clauses'
import { cascadeTrashValues, trashValues } from './server-values'
import { keysClause } from './targets'

export const deleteOperations: BuildOperations = (plan, items, written, call, time) => {
  const { resource } = plan
  const { roles } = resource
  if (!roles.deletedAt) {
    for (const item of items) written.set(item.index, {})
    const effects = databaseDeletes(call, resource, keysClause(plan, items, call), keysOf(items))
    return [
      ...effects.length > 0 ? lockRows(plan, items, call) : [],
      ...snapshotRows(plan, items, call),
      ...effects,
      ...deleteRows(plan, items, call),
    ]
  }
  const columns = withReported(call, resource, keyFields(resource))
  const updates = items.map((item): WriteOperation => {
    const deletionId = crypto.randomUUID()
    written.set(item.index, roles.deletionId ? { deletionId } : {})
    const values = trashValues(plan, deletionId, call, time)
    const readBackKey = hasParticipants(call) || isWatching(call) ? keyClauses(resource, item.key!) : undefined
    return {
      statement: updateStatement(call, resource, values, writeClauses(plan, item), columns, readBackKey),
      expectation: 'row',
      item: item.index,
      changes: reportKey(call, resource, 'delete', item.key!, columns, values),
    }
  })
  return [
    ...lockSeveral(plan, items, call),
    ...snapshotOperations(call, resource, [keysClause(plan, items, call), ...plan.scope], true),
    ...updates,
    ...trashDependents(plan, items, call, time),
  ]
}

/** Moves dependents to the trash, parents before children. Runs after the operations that move the named rows to the trash. */
export function trashDependents(plan: Scoped<WritePlan>, items: readonly Item[], call: Call, time: Date): WriteOperation[] {
  if (plan.resource.auth?.softDelete?.cascade === 'off') return []
  const closure = closureOf(plan, items, call, 'active')
  const tables = dependentTables(closure, node => node.roles.deletedAt !== undefined).reverse()
  return [
    ...cascadeOperations(call, closure, tables, {
      kind: 'delete', trash: 'active', named: namedRowsOf(plan, items), assigned: node => cascadeTrashValues(plan, node, call, time),
    }),
    ...restrictOperations(closure, call),
    ...tables.map(node => ({ statement: trashStatement(call, closure, node, cascadeTrashValues(plan, node, call, time)) })),
    ...checkMissedRows(closure, call),
  ]
}

/**
 * Finds dependents that another transaction inserts while their table is updated. The commit is then repeated. Only the tables of a
 * cycle need this check. Every other table is updated after the tables that it references, so its update finds all dependents.
 */
function checkMissedRows(closure: Closure, call: Call): WriteOperation[] {
  if (!call.engine.concurrent) return []
  const { dependents } = closure
  const position = (table: unknown) => dependents.nodes.findIndex(node => node.table === table)
  return dependents.edges
    .filter(edge => position(edge.table) <= position(edge.foreignTable) && call.api.graph.get(edge.table)!.roles.deletedAt)
    .map(edge => ({
      statement: missedRowsStatement(call, closure, edge, call.api.graph.get(edge.table)!, call.api.graph.get(edge.foreignTable)!),
    }))
}
