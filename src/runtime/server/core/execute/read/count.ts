/** Counts the rows of a list that the caller can see. */
import { sql } from 'drizzle-orm'
import type { Statement } from '../../../engines/engine'
import { shape } from '../../sql/shape'
import type { Call } from '../../context'
import type { ListPlan } from '../../plan/read'
import type { ReadPlan } from '../../plan/read-plan'
import { shapeOf, statement, valuesOf, whereClause } from '../../sql/clause'
import type { Scoped } from '../../access/row-scope'
import { conditions } from '../rows/select'
import { scan } from '../rows/scan'

export async function countRows(plan: Scoped<ListPlan>, call: Call): Promise<number> {
  if (!plan.accepts) return Number((await call.engine.query(countStatement(plan, call)))[0]![0])
  let total = 0
  for await (const _ of scan(plan, { maxScanned: call.api.config.objectLevelMaxRows }, call)) total++
  return total
}

/** `select count(*) from t where …` */
function countStatement(plan: Scoped<ReadPlan>, { api, engine }: Call): Statement {
  const where = conditions(plan)
  return statement(api.statements, engine, shape`count ${plan.resource}${shapeOf(where)}`, valuesOf(where), () => ({
    sql: sql`select count(*) from ${plan.resource.table}${whereClause(where)}`,
    extra: undefined,
  }))
}
