/** A value that none of its column's type is, where only the database could tell: the request is refused, not failed. */
import { sql } from 'drizzle-orm'
import { InvalidValueError } from '../../../engines/engine'
import { shape } from '../../sql/shape'
import type { Call } from '../../context'
import { ApiError, invalidCursor } from '../../error'
import { shapeOf, statement, valuesOf, whereClause } from '../../sql/clause'
import type { Plan, Scoped } from '../../access/row-scope'

/**
 * Whether a query failed over a value of the request. What an app wrote in SQL may fail alike, and that is the app's fault:
 * its row filters are asked alone, of one row.
 */
export async function isInvalidValue(error: unknown, plan: Scoped<Plan>, call: Call): Promise<boolean> {
  if (!(error instanceof InvalidValueError)) return false
  for (const { resource, scope } of plansOf(plan)) {
    if (!scope.some(({ custom }) => custom)) continue
    const alone = statement(call.api.statements, call.engine, shape`scope of ${resource}${shapeOf(scope)}`, valuesOf(scope), () => ({
      sql: sql`select 1 from ${resource.table}${whereClause(scope)} limit 1`,
      extra: undefined,
    }))
    try {
      await call.engine.query(alone)
    }
    catch {
      return false
    }
  }
  return true
}

function plansOf(plan: Scoped<Plan>): readonly Scoped<Plan>[] {
  return [plan, ...plan.include.flatMap(({ plan, through }) => [...plansOf(plan), ...through ? [through] : []])]
}

/** What a request is told of an error that one of its queries threw: which value it was, the database does not say. */
export async function toRequestError(error: unknown, plan: Scoped<Plan>, call: Call): Promise<unknown> {
  if (!await isInvalidValue(error, plan, call)) return error
  const { where = [], start = [] } = plan as { where?: readonly unknown[], start?: readonly unknown[] }
  if (start.length > 0 && where.length === 0) return invalidCursor()
  return new ApiError('INVALID_VALUE', 'A value of the request does not fit the type of its field.')
}
