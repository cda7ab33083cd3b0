/** Turns a database error over a value of the request into a 400. Some values only the database can check against their column's type. */
import { sql } from 'drizzle-orm'
import { InvalidValueError } from '../../../engines/engine'
import { shape } from '../../sql/shape'
import type { Call } from '../../context'
import { ApiError, invalidCursor } from '../../error'
import { shapeOf, statement, valuesOf, whereClause } from '../../sql/clause'
import type { Plan, Scoped } from '../../access/row-scope'

/**
 * Whether a query failed over a value of the request. SQL that an app wrote can fail in the same way, which is an error of the app:
 * the app's row filters run alone, on one row, to tell the two apart.
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

/** The error to respond with when a query of the request throws. The database does not report which value is invalid. */
export async function toRequestError(error: unknown, plan: Scoped<Plan>, call: Call): Promise<unknown> {
  if (!await isInvalidValue(error, plan, call)) return error
  const { where = [], start = [] } = plan as { where?: readonly unknown[], start?: readonly unknown[] }
  if (start.length > 0 && where.length === 0) return invalidCursor()
  return new ApiError('INVALID_VALUE', 'A value of the request does not fit the type of its field.')
}
