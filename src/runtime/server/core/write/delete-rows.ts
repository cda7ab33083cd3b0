/** Deletes the named rows from their table. The foreign keys of the database handle rows that still reference them. */
import type { Call } from '../request/session'
import { keyFields } from '../access/fields'
import type { Scoped } from '../access/row-scope'
import type { WritePlan } from '../plan/write'
import { findDependents } from './cascade/dependents'
import type { ChangeReport } from '../commit/changes/report'
import { changedTable } from '../commit/changes/table'
import type { WriteOperation } from '../commit/operation'
import { deleteStatement } from '../commit/delete'
import { selectStatement } from '../commit/select'
import { snapshotOperations } from '../commit/snapshot'
import { conditionOperations, hasConditions } from './conditions'
import { isSelfReferencing } from './dependents'
import { keysOf, type Item } from './items'
import { checkVisible, lockRows } from './locks'
import { writeClauses } from './row-clauses'
import { keysClause } from './targets'

/** Reads the rows of a delete or of a purge before it removes them, if a plugin needs them. */
export const snapshotRows = ({ resource, scope, ...plan }: Scoped<WritePlan>, items: readonly Item[], call: Call) =>
  snapshotOperations(call, resource, [keysClause({ ...plan, resource }, items, call), ...scope], false)

/** Several rows are deleted in one statement, because they can refer to each other. */
export function deleteRows(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): WriteOperation[] {
  const { resource, scope } = plan
  const changes = deletedRows(plan, items, call)
  if (items.length === 1) {
    const [item] = items as [Item]
    return [{ statement: deleteStatement(call, resource, writeClauses(plan, item)), expectation: 'row', item: item.index, changes }]
  }
  const statement = deleteStatement(call, resource, [keysClause(plan, items, call), ...scope])
  // The database can delete a named row as the dependent of another named row. It does not count that row, so a select checks the result.
  if (isSelfReferencing(findDependents(call.api.graph, resource.table)))
    return [
      ...checkVisible(plan, items, call),
      ...conditionOperations(plan, items, call),
      { statement: { text: statement.text, values: statement.values }, changes },
      checkDeleted(plan, items, call),
    ]
  return [
    ...(plan.accepts ? checkVisible(plan, items, call) : items.some(hasConditions) ? lockRows(plan, items, call) : []),
    ...conditionOperations(plan, items, call),
    { statement: { ...statement, expectedRows: items.length, atomic: false }, expectation: 'row', changes },
  ]
}

/** Fails the commit if one of the rows still exists. */
export function checkDeleted(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): WriteOperation {
  return {
    statement: { ...selectStatement(call, plan.resource, [keysClause(plan, items, call)], keyFields(plan.resource)), expectedRows: 0 },
    expectation: 'row',
  }
}

export const deletedRows = ({ resource, kind }: WritePlan, items: readonly Item[], call: Call): ChangeReport =>
  ({ table: changedTable(call, resource), kind: kind as 'delete' | 'purge', keys: keysOf(items) })
