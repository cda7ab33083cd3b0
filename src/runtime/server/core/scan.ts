/** Reads a whole list in batches, for plugins that stream it: with the permissions, the fields and the row scope of the list route. */
import { authorize, authorizeGate, contextFor } from './access/authorize'
import { applyScope } from './access/row-scope'
import type { ApiRequest, Call } from './context'
import { forResource, requireSession } from './context'
import { invalidQuery } from './error'
import { executeScan } from './execute/read/scan'
import { toRequestError } from './execute/rows/invalid-value'
import { parseList } from './parse/list'
import { readOperations } from './parse/params'
import { planList } from './plan/read'
import { wireRecords } from './respond'
import type { AutoApiContext } from '../registration'

/** A record as the list route returns it. */
export type ScannedRecord = Readonly<Record<string, unknown>>

export interface ScanOptions {
  /** A named gate of `authorization.custom`. If the resource has this gate and it declares `read`, it decides instead of `read`. */
  readonly gate?: string
}

/**
 * Reads every record of a list in batches. Each batch is read when the consumer asks for it; `return()` ends the reading.
 * @param query the `filter`, `sort`, `fields`, `include`, `includeDeleted` and `onlyDeleted` of the list route
 * @throws While iterating: the errors of the list route, and 400 for parameters that select a page or compute results. If the resource has
 * `objectLevel`: 400 after 100,000 checked rows (or `objectLevelMaxRows`, if it is larger).
 */
export type Scan = (
  ctx: Pick<AutoApiContext, 'event'>, resource: string, query?: ApiRequest['query'], options?: ScanOptions,
) => AsyncGenerator<readonly ScannedRecord[], void>

export const scanList: Scan = async function* (ctx, name, query = {}, { gate } = {}) {
  const call = callFor(ctx, name)
  await authorizeScan(call, query, gate)
  const listQuery = { ...parseScan(query, call), position: { mode: 'offset', page: 1 } as const, count: false }
  const plan = await applyScope(call, await planList(listQuery, call))
  try {
    for await (const result of executeScan(plan, call)) yield wireRecords(result)
  }
  catch (error) {
    throw await toRequestError(error, plan, call)
  }
}

function callFor(ctx: object, name: string): Call {
  const session = requireSession(ctx)
  const resource = session.api.resources.get(name)
  if (!resource) throw new Error(`[auto-api] scan(): there is no resource \`${name}\`.`)
  return forResource(session, resource, contextFor({ ...session, ctx: ctx as AutoApiContext }, resource, 'read'))
}

async function authorizeScan(call: Call, query: ApiRequest['query'], gate: string | undefined): Promise<void> {
  const [read, ...further] = readOperations({ query })
  if (gate === undefined) await authorize(call, call.resource, [read])
  else await authorizeGate(call, gate)
  await authorize(call, call.resource, further)
}

/** The parameters of the list route that have no meaning for a whole list. */
const REFUSED = ['page', 'limit', 'cursor', 'cursorFields', 'count', 'aggregate', 'groupBy', 'having']

function parseScan(query: ApiRequest['query'], call: Call) {
  const refused = REFUSED.find(name => query[name] !== undefined)
  if (refused !== undefined) throw invalidQuery(`\`${refused}\` cannot be used here, because the response contains every record.`, refused)
  return parseList({ query }, call)
}
