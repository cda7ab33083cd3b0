/** Counts the rows of a list that the caller can see. */
import { sql } from 'drizzle-orm'
import type { Statement } from '../../engines/engine'
import { shape } from '../sql/shape'
import type { Call } from '../request/session'
import type { ReadPlan } from '../plan/read-plan'
import { shapeOf, statement, valuesOf, whereClause } from '../sql/clause'
import type { Scoped } from '../access/row-scope'
import { conditions } from './rows/select'
import { scan } from './rows/scan'

/** @param max stops the count at this number of rows. Under `objectLevel`, the scan then checks as many rows as a list without a total. */
export async function countRows(plan: Scoped<ReadPlan>, call: Call, max?: number): Promise<number> {
  const counted = max === undefined ? countStatement : boundedCountStatement(max)
  if (!plan.accepts) return runCount(counted(plan, call), call)
  let total = 0
  if (max !== undefined) {
    for await (const _ of scan(plan, {}, call)) if (++total >= max) break
    return total
  }
  for await (const _ of scan(plan, { maxScanned: call.api.config.objectLevelMaxRows }, call)) total++
  return total
}

export const runCount = async (counted: Statement, { engine }: Call) => Number((await engine.query(counted))[0]![0])

/** `select count(*) from t where …` */
export function countStatement(plan: Scoped<ReadPlan>, { api, engine }: Call): Statement {
  const where = conditions(plan)
  return statement(api.statements, engine, shape`count ${plan.resource}${shapeOf(where)}`, valuesOf(where), () => ({
    sql: sql`select count(*) from ${plan.resource.table}${whereClause(where)}`,
    extra: undefined,
  }))
}

/** `select count(*) from (select 1 from t where … limit ?) as counted` */
const boundedCountStatement = (max: number) => (plan: Scoped<ReadPlan>, { api, engine }: Call): Statement => {
  const where = conditions(plan)
  const key = shape`count to a limit ${plan.resource}${shapeOf(where)}`
  return statement(api.statements, engine, key, [...valuesOf(where), max], () => ({
    sql: sql`select count(*) from (select 1 from ${plan.resource.table}${whereClause(where)} limit ${sql.param(max)}) as counted`,
    extra: undefined,
  }))
}
