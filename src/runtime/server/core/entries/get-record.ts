/** Reads one record for a plugin as the get route does: with its permission, row scope, readable fields and hooks. */
import { authorize } from '../access/authorize'
import { applyScope } from '../access/row-scope'
import type { ApiRequest } from '../request/api-request'
import { notFound } from '../error'
import { executeGet } from '../read/get'
import { toRequestError } from '../read/rows/invalid-value'
import { parseGet } from '../parse/list'
import { planGet } from '../plan/read'
import { wireRecords } from './respond'
import { callOn, type CallerContext } from './call'

/**
 * Reads one record, as `GET /:resource/:id` returns it.
 * @param id as a client sends it
 * @param query the `fields`, `include` and `counts` of the get route
 * @throws The errors of the get route: 401, 403, 404 for a record that the caller cannot see, 400 for an unknown or unreadable field.
 */
export type GetRecord = (
  ctx: CallerContext, resource: string, id: string, query?: ApiRequest['query'],
) => Promise<Readonly<Record<string, unknown>>>

export const getRecord: GetRecord = async (ctx, name, id, query = {}) => {
  const call = callOn(ctx, name, 'read')
  await authorize(call, call.resource, ['read'])
  const plan = await applyScope(call, await planGet(parseGet({ query, params: { id } }, call), call), 'read')
  try {
    const [record] = wireRecords(await executeGet(plan, call))
    if (!record) throw notFound()
    return record
  }
  catch (error) {
    throw await toRequestError(error, plan, call)
  }
}
