/** Loads rows by their keys and checks whether the caller can use them for an operation. */
import type { Operation } from '../../../shared/operations'
import type { Key } from '../../schema/record-id'
import type { Resource } from '../../schema/model'
import { applyScope, type Plan, type Scoped } from '../access/row-scope'
import type { Call } from '../request/session'
import type { Target } from './items'
import { loadTargets } from './targets'

export interface VisibleRows {
  /** The scope that contains every active row that the caller can use for the operation. */
  readonly plan: Scoped<Plan>
  /** One target for each key, in the order of the keys. It has a 404 or 403 error if the caller cannot use the row. */
  readonly targets: readonly Target[]
}

export async function loadVisible(call: Call, resource: Resource, keys: readonly Key[], operation: Operation): Promise<VisibleRows> {
  const plan = await applyScope<Plan>(call, { resource, trash: 'active' }, operation)
  const targets = keys.map((key): Target => ({ key }))
  await loadTargets(plan, targets, call)
  return { plan, targets }
}
