/** Updates a record for a plugin, as the update route does: permissions, validation, field rules, hooks and conditions of the request. */
import { authorize } from '../access/authorize'
import type { ApiRequest } from '../request/api-request'
import { requireSession } from '../request/session'
import type { IncomingRequest } from '../extensions/listeners'
import { parseUpdate } from '../parse/write'
import type { ApiResponse } from '../extensions/response'
import { runUpdate } from './update-row'
import { callOn, type CallerContext } from './call'

/**
 * @param values the body of the update
 * @param request the request that causes the update. Its headers apply.
 * @throws The errors of the update route.
 */
export async function updateRecord(
  ctx: CallerContext, name: string, id: string, values: Readonly<Record<string, unknown>>, request: IncomingRequest,
): Promise<ApiResponse> {
  const call = callOn(ctx, name, 'update')
  await authorize(call, call.resource, ['update'])
  return runUpdate(await parseUpdate(toUpdateRequest(requireSession(ctx), name, id, values, request), call), call)
}

function toUpdateRequest(
  { engine, ctx: { db, user, permissions } }: ReturnType<typeof requireSession>,
  resource: string,
  id: string,
  values: Readonly<Record<string, unknown>>,
  { header, address, setHeader, event }: IncomingRequest,
): ApiRequest {
  return {
    path: '',
    method: 'PATCH',
    resource,
    params: { id },
    query: {},
    header,
    address,
    setHeader,
    event,
    body: async () => values,
    async* stream() {},
    signal: () => new AbortController().signal,
    caller: { user, permissions },
    engine,
    db,
  }
}
