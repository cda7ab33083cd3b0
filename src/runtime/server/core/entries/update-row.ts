/** Updates one row for plugins, as an ordinary update: row scope, hooks, plugins that take part in commits. */
import { toKey } from '../../schema/record-id'
import { applyScope } from '../access/row-scope'
import type { Call } from '../request/session'
import { notFound } from '../error'
import { toRequestError } from '../read/rows/invalid-value'
import { executeWrite, type CommitListeners } from '../write/run'
import { planUpdate } from '../plan/write'
import { writtenRecord } from './respond'
import type { ApiResponse } from '../extensions/response'
import { callOn, type CallerContext } from './call'

export type UpdateRow = typeof updateRow

/**
 * Updates a row that the caller can update, after the caller was authorized. The values can contain columns that no client can write.
 * @param values by field name, in the types that Drizzle expects
 * @returns the record with the fields that the caller can read, as a response contains it
 * @throws The errors of an update.
 */
export async function updateRow(
  ctx: CallerContext, name: string, id: string, values: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const call = callOn(ctx, name)
  const key = toKey(call.resource, id)
  if (!key) throw notFound()
  return (await runUpdate({ bulk: false, items: [{ key, data: { values, sent: [], given: [] } }] }, call)).body as Record<string, unknown>
}

/**
 * Runs the steps of an update after its request was parsed: plan, row scope, one commit with its hooks, response.
 * @throws The errors of an update, and those of a condition of its items.
 */
export async function runUpdate(
  request: Parameters<typeof planUpdate>[0], call: Call, listeners?: CommitListeners,
): Promise<ApiResponse> {
  const plan = await applyScope(call, await planUpdate(request, call), 'update')
  try {
    return writtenRecord(await executeWrite(plan, call, listeners), call)
  }
  catch (error) {
    throw await toRequestError(error, plan, call)
  }
}
