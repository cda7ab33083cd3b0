/**
 * Turns a database error about an invalid value of the request, or about the depth of its conditions, into a 400. For some column types,
 * only the database can check values.
 */
import { InvalidValueError, TooComplexError } from '../../../engines/engine'
import type { Call } from '../../request/session'
import { ApiError, invalidCursor, limitExceeded } from '../../error'
import { relatedPlans } from '../../access/related'
import type { Plan, Scoped } from '../../access/row-scope'
import { whereClause } from '../../sql/conditions'
import { statement } from '../../sql/parameterize'
import { where } from '../../sql/where'

/**
 * Returns whether a query failed because of an invalid value of the request. The app's own row filters can cause the same database
 * error, which is an error of the app. To distinguish the two, the function runs the row scope alone, on one row.
 */
export async function isInvalidValue(error: unknown, plan: Scoped<Plan>, call: Call): Promise<boolean> {
  return error instanceof InvalidValueError && worksWithoutRequest(plan, call)
}

async function worksWithoutRequest(plan: Scoped<Plan>, call: Call): Promise<boolean> {
  for (const { resource, scope } of plansOf(plan)) {
    if (!scope.some(({ traits }) => traits.custom)) continue
    const scopeQuery = statement(call, where`select 1 from ${resource.table}${whereClause(scope)} limit 1`)
    try {
      await call.engine.query(scopeQuery)
    }
    catch {
      return false
    }
  }
  return true
}

function plansOf(plan: Scoped<Plan>): readonly Scoped<Plan>[] {
  const included = plan.include.flatMap(({ plan, through }) => [...plansOf(plan), ...through ? [through] : []])
  return [plan, ...included, ...relatedPlans(plan.related?.filters), ...plan.sortedBy ?? []]
}

/** Returns the error of the response after a query has thrown. The database does not report which value is invalid. */
export async function toRequestError(error: unknown, plan: Scoped<Plan>, call: Call): Promise<unknown> {
  if (error instanceof TooComplexError && await worksWithoutRequest(plan, call))
    return limitExceeded('The conditions are nested too deeply for the database. Use fewer relations and conditions.')
  if (!await isInvalidValue(error, plan, call)) return error
  const { where = [], reached } = plan as { where?: readonly unknown[], reached?: readonly unknown[] }
  if (reached && where.length === 0) return invalidCursor()
  return new ApiError('INVALID_VALUE', 'A value of the request does not fit the type of its field.')
}
