/** Finds the dependents of the rows that a write names. */
import type { Call } from '../request/session'
import type { Scoped } from '../access/row-scope'
import type { WritePlan } from '../plan/write'
import type { Closure, FollowedRows } from './cascade/closure/index'
import { findDependents, type Dependents } from './cascade/dependents'
import { restrictStatement } from './cascade/statements'
import type { WriteOperation } from '../commit/operation'
import type { Item } from './items'
import { keysClause } from './targets'

export function closureOf(plan: Scoped<WritePlan>, items: readonly Item[], call: Call, followedRows: FollowedRows): Closure {
  return {
    dependents: findDependents(call.api.graph, plan.resource.table),
    start: keysClause(plan, items, call),
    followedRows,
    maxTerms: call.engine.limits?.terms,
    ...(followedRows === 'active' && items.length > 1 && { manyRoots: true }),
  }
}

/** Returns the tables that contain dependents, children before parents. The root table is included if it references itself. */
export function dependentTables({ dependents }: Closure, accepts: (node: Dependents['root']) => boolean): Dependents['root'][] {
  return dependents.nodes.filter(node => accepts(node) && dependents.edges.some(edge => edge.table === node.table)).reverse()
}

export const isSelfReferencing = ({ root, edges }: Dependents) => edges.some(edge => edge.table === root.table)

/** Fails the commit if a foreign key declared `restrict` references a row of the closure. */
export function restrictOperations(closure: Closure, call: Call): WriteOperation[] {
  return closure.dependents.restricting.map(edge => ({
    statement: restrictStatement(call, closure, edge, call.api.graph.get(edge.table)!, call.api.graph.get(edge.foreignTable)!),
    expectation: 'restrict' as const,
  }))
}
