/** The operations of a purge: delete the dependents or clear their references, then delete the rows. */
import { cascadeOperations } from './cascade/cascaded-rows'
import { clearedOperations } from './cascade/cleared-rows'
import type { Closure } from './cascade/closure/index'
import { needsMarking, removeCycle } from './cascade/cycle'
import { findDependents } from './cascade/dependents'
import { clearReferencesStatement, removeStatement } from './cascade/statements'
import type { BuildOperations } from './build-operations'
import { conditionOperations } from './conditions'
import { checkDeleted, deletedRows, deleteRows, snapshotRows } from './delete-rows'
import { dependentTables, isSelfReferencing, restrictOperations } from './dependents'
import { namedRowsOf, type Item } from './items'
import { checkVisible, lockRows } from './locks'
import { keysClause } from './targets'
import { and } from '../sql/conditions'

export const purgeOperations: BuildOperations = (plan, items, written, call) => {
  const dependents = findDependents(call.api.graph, plan.resource.table)
  // In a self-referencing table, one statement deletes the rows and their dependents. The closure therefore contains the row scope.
  const selfReferencing = isSelfReferencing(dependents)
  const start = selfReferencing ? and([keysClause(plan, items, call), ...plan.scope]) : keysClause(plan, items, call)
  const closure: Closure = { dependents, start, followedRows: 'all', maxTerms: call.engine.limits?.terms }
  const tables = dependentTables(closure, () => true)
  const removed = needsMarking(dependents, call)
    ? removeCycle(call, closure, tables)
    : tables.map(node => removeStatement(call, closure, node))
  for (const item of items) written.set(item.index, {})
  return [
    ...(selfReferencing ? checkVisible(plan, items, call) : lockRows(plan, items, call)),
    ...conditionOperations(plan, items, call),
    ...snapshotRows(plan, items, call),
    ...cascadeOperations(call, closure, tables, { kind: 'purge', trash: 'all', named: namedRowsOf(plan, items) }),
    ...clearedOperations(call, closure, namedRowsOf(plan, items)),
    ...restrictOperations(closure, call),
    ...dependents.cleared.map(edge => ({
      statement: clearReferencesStatement(call, closure, edge, call.api.graph.get(edge.table)!, call.api.graph.get(edge.foreignTable)!),
    })),
    ...removed.map(statement => ({ statement })),
    ...(selfReferencing
      ? [{ ...checkDeleted(plan, items, call), changes: deletedRows(plan, items, call) }]
      : deleteRows(plan, items.map(withoutConditions), call)),
  ]
}

/** `conditionOperations` has checked the conditions. After the cascade they could have another result. */
const withoutConditions = (item: Item): Item => ({ ...item, conditions: undefined })
