/** Applies the rules in code once more to rows that have changed since. The caller of a write that is still allowed does not notice. */
import type { Call } from '../request/session'
import type { WritePlan } from '../plan/write'
import type { Scoped } from '../access/row-scope'
import { CommitFailed } from '../commit/failure'
import { checkConditions } from './conditions'
import { withoutError, type Item } from './items'
import { loadTargets } from './targets'

/** Whether a row of the items, or a row that they reference, has changed since an object-level rule accepted it. */
export function isChangedSinceJudged(error: unknown, plan: Scoped<WritePlan>, items: readonly Item[]): error is CommitFailed {
  if (!(error instanceof CommitFailed)) return false
  return error.expectation === 'row'
    ? plan.accepts !== undefined
    : error.expectation === 'reference' && items.some(({ references = [] }) => references.some(({ target }) => target.acceptedRows))
}

/** Loads the rows again. Sets the errors of the items, as the first time. The references of the items have to be checked after it. */
export async function judgeAgain(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): Promise<void> {
  if (!plan.accepts) return
  await loadTargets(plan, withoutError(items), call)
  await checkConditions(plan, withoutError(items), call)
}
