/** The total of a list: exact, or from a limit on a lower bound or the estimate of the database. */
import { relatedPlans } from '../access/related'
import type { Scoped } from '../access/row-scope'
import type { Call } from '../request/session'
import { isLimitExceeded } from '../error'
import { knownTotals } from './total-cache'
import type { ListPlan } from '../plan/read'
import { readsOf } from './request-reads'
import { scan } from './rows/scan'
import { keyFields } from '../access/fields'
import { conditions } from './rows/select'
import { countRows, countStatement, runCount } from './count'
import { whereClause } from '../sql/conditions'
import { statement } from '../sql/parameterize'
import { asSql, where } from '../sql/where'

export interface Total {
  readonly total: number
  /** More rows than `total` match. */
  readonly totalIsMore?: true
  /** `total` is the estimate of the database. */
  readonly totalIsEstimated?: true
}

export async function findTotal(plan: Scoped<ListPlan>, call: Call): Promise<Total> {
  const { countLimit } = plan
  if (countLimit === undefined) return { total: await countList(plan, call) }
  if (plan.accepts) return countAccepted(plan, countLimit, call)
  const counted = await countRows(plan, call, countLimit + 1)
  if (counted <= countLimit) return { total: counted }
  const estimate = canEstimate(plan) ? await estimateRows(plan, call) : undefined
  return estimate === undefined ? { total: countLimit, totalIsMore: true } : { total: Math.max(estimate, counted), totalIsEstimated: true }
}

/**
 * Like {@link countRows}, for the total of a list that can be asked again with another page. Links of a record are not in the tables that
 * `readsOf` finds, so their lists are counted each time.
 */
function countList(plan: Scoped<ListPlan>, call: Call): Promise<number> {
  const known = plan.accepts || plan.ofRecord ? undefined : knownTotals(call)
  if (!known) return countRows(plan, call)
  const counted = countStatement(plan, call)
  const withoutRecords = { ...plan, include: [], counts: undefined, order: [], selection: keyFields(plan.resource) }
  return known(counted, readsOf(withoutRecords, call), () => runCount(counted, call))
}

/** Where an exact count would return 400, because too many rows had to be checked, the total is a lower bound. */
async function countAccepted(plan: Scoped<ListPlan>, countLimit: number, call: Call): Promise<Total> {
  let total = 0
  try {
    for await (const _ of scan(plan, { maxScanned: call.api.config.objectLevelMaxRows }, call)) {
      if (total === countLimit) return { total, totalIsMore: true }
      total++
    }
  }
  catch (error) {
    if (!isLimitExceeded(error)) throw error
    return { total, totalIsMore: true }
  }
  return { total }
}

/**
 * Whether the caller can see all rows. The database estimates from statistics of the whole table. For a caller who can see a part of the
 * rows, the estimate of a filter would disclose how frequent a value is in the other rows. The links of a record can have a row scope too.
 */
const canEstimate = (plan: Scoped<ListPlan>) =>
  !plan.ofRecord && [plan, ...relatedPlans(plan.related?.filters)].every(({ scope }) => scope.length === 0)

/** `explain (format json) select 1 from t where …`. Returns `undefined` if the dialect has no estimate. */
async function estimateRows(plan: Scoped<ListPlan>, call: Call): Promise<number | undefined> {
  const { engine } = call
  const { estimate } = engine.adapter
  if (!estimate) return undefined
  const rows = asSql(where`select 1 from ${plan.resource.table}${whereClause(conditions(plan))}`)
  const explain = statement(call, where`${estimate.explain(rows)}`)
  return estimate.read((await engine.query(explain))[0]?.[0])
}
