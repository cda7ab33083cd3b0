/** Lists the records of a resource for a plugin, with the permissions, the fields and the row scope of the list route. */
import { authorize } from '../access/authorize'
import { applyScope } from '../access/row-scope'
import type { ApiRequest } from '../request/api-request'
import { executeList } from '../read/list'
import { toRequestError } from '../read/rows/invalid-value'
import { parseList } from '../parse/list'
import { readOperations } from '../parse/params'
import { planList } from '../plan/read'
import { listEnvelope } from './respond'
import type { ApiResponse } from '../extensions/response'
import { replicaCallOn, type CallerContext } from './call'

/**
 * @param query the query of the list route
 * @throws The errors of the list route.
 */
export async function listRecords(ctx: CallerContext, name: string, query: ApiRequest['query']): Promise<ApiResponse> {
  const call = replicaCallOn(ctx, name, 'read')
  await authorize(call, call.resource, readOperations({ query }))
  const plan = await applyScope(call, await planList(parseList({ query }, call), call))
  try {
    return listEnvelope(await executeList(plan, call))
  }
  catch (error) {
    throw await toRequestError(error, plan, call)
  }
}
