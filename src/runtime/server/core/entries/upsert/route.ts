/** Creates with `onConflict`: a record that has the same values in a unique constraint is updated. */
import type { RouteName } from '../../../../shared/routes'
import { authorizeAny, callFor } from '../../access/authorize'
import type { Api } from '../../api'
import type { ApiResponse } from '../../extensions/response'
import { assertDryRun, dryRunHeaders } from '../../parse/dry-run'
import { refuseIfMatch } from '../../parse/if-match'
import { parseIncluded } from '../../parse/list'
import { PARAMETERS } from '../../parse/parameters'
import { nameList } from '../../parse/params'
import { parseRecords } from '../../parse/write'
import { handleRequest } from '../../pipeline'
import type { ApiRequest } from '../../request/api-request'
import type { Call } from '../../request/session'
import { addIncluded, planIncluded } from '../included'
import { createdRecord, upsertEnvelope, writtenRecord } from '../respond'
import type { Route } from '../route'
import { conflictKeyOf } from './key'
import { runUpsert } from './run'

/** The names of the routes for plugins, by that of the create. */
const NAMES = { 'create': 'upsert', 'bulk-create': 'bulk-upsert' } as const satisfies Partial<Record<RouteName, string>>

export const UPSERT_ROUTES: readonly string[] = Object.values(NAMES)

/** @param create the route of requests without `onConflict` */
export function withUpsert(name: keyof typeof NAMES, create: Route): Route {
  const route = (request: ApiRequest, api: Api): Promise<ApiResponse> => {
    if (request.query.onConflict === undefined) return create(request, api)
    const operations = ['create', 'update'] as const
    return handleRequest(api, request, api.resources.get(request.resource)!, {
      operations,
      // The records decide which of the operations the caller needs.
      authorize: call => authorizeAny(call, operations),
      name: NAMES[name],
      parameters: () => PARAMETERS[name],
      run: call => upsert(request, call, name === 'bulk-create'),
    })
  }
  return Object.assign(route, { operationOf: create.operationOf!, operations: create.operations! })
}

async function upsert(request: ApiRequest, call: Call, bulk: boolean): Promise<ApiResponse> {
  assertDryRun(request)
  refuseIfMatch(request, 'An upsert can create the record.')
  const [creating, updating] = [callFor(call, call.resource, 'create'), callFor(call, call.resource, 'update')]
  const key = await conflictKeyOf(nameList(request.query, 'onConflict')!, updating)
  const include = parseIncluded(request, call)
  const records = await parseRecords(request, call, bulk)
  const included = include && await planIncluded(include, call)
  const written = await runUpsert({ creating, updating, key, bulk, records })
  const results = included ? await addIncluded(written, included) : written
  const [result] = results
  const response = bulk
    ? upsertEnvelope(results, call)
    : result!.plan.kind === 'create' ? createdRecord(result!, creating) : writtenRecord(result!, updating)
  return call.ctx.dryRun ? { ...response, headers: { ...response.headers, ...dryRunHeaders(request) } } : response
}
