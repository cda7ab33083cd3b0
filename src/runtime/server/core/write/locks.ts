/** The operations that lock the named rows before any of them is written. */
import type { Call } from '../request/session'
import { keyFields } from '../access/fields'
import type { Scoped } from '../access/row-scope'
import type { WritePlan } from '../plan/write'
import type { WriteOperation } from '../commit/operation'
import { selectStatement } from '../commit/select'
import type { Item } from './items'
import { rowClauses } from './row-clauses'
import { keysClause } from './targets'

/** Locks the named rows if the engine runs transactions concurrently. If two requests write the same rows, one of them waits. */
export function lockRows(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): WriteOperation[] {
  if (!call.engine.concurrent) return []
  return [{ statement: { ...selectForUpdate(plan, items, call), expectedRows: undefined }, phase: 'lock' }]
}

/** Locks several rows in the order of their keys, to avoid deadlocks. A single row needs no lock before the statement that writes it. */
export const lockSeveral = (plan: Scoped<WritePlan>, items: readonly Item[], call: Call) =>
  items.length > 1 ? lockRows(plan, items, call) : []

/** Locks the rows. Fails the commit if a row is no longer visible or has changed since code checked it. */
export function checkVisible(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): WriteOperation[] {
  if (!plan.accepts)
    return [{ statement: { ...selectForUpdate(plan, items, call), expectedRows: items.length }, expectation: 'row', phase: 'lock' }]
  return items.map((item): WriteOperation => ({
    statement: selectStatement(call, plan.resource, rowClauses(plan, item), keyFields(plan.resource), 'update'),
    expectation: 'row',
    item: item.index,
    phase: 'lock',
  }))
}

function selectForUpdate(plan: Scoped<WritePlan>, items: readonly Item[], call: Call) {
  const { resource, scope } = plan
  return selectStatement(call, resource, [keysClause(plan, items, call), ...scope], keyFields(resource), 'update')
}
