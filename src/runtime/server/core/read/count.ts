/** Counts the rows of a list that the caller can see. */
import type { Statement } from '../../engines/engine'
import type { Call } from '../request/session'
import type { ReadPlan } from '../plan/read-plan'
import type { Scoped } from '../access/row-scope'
import { conditions } from './rows/select'
import { scan } from './rows/scan'
import { whereClause } from '../sql/conditions'
import { statement } from '../sql/parameterize'
import { value, where } from '../sql/where'

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
export function countStatement(plan: Scoped<ReadPlan>, call: Call): Statement {
  return statement(call, where`select count(*) from ${plan.resource.table}${whereClause(conditions(plan))}`)
}

/** `select count(*) from (select 1 from t where … limit ?) as counted` */
const boundedCountStatement = (max: number) => (plan: Scoped<ReadPlan>, call: Call): Statement => {
  const rows = where`select 1 from ${plan.resource.table}${whereClause(conditions(plan))} limit ${value(max)}`
  return statement(call, where`select count(*) from (${rows}) as counted`)
}
