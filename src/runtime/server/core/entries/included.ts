/** `include` of a write: the response contains related records, as that of a get. They are read after the commit. */
import type { IncludeTree } from '../parse/include'
import { authorize, callFor } from '../access/authorize'
import { keyFields } from '../access/fields'
import { applyScope, narrow, type Scoped } from '../access/row-scope'
import { andThen } from '../awaitable'
import { invalidQuery, isLimitExceeded } from '../error'
import { parseIncluded } from '../parse/list'
import type { WriteRequest } from '../parse/write'
import { planRelations } from '../plan/include'
import type { ReadPlan } from '../plan/read-plan'
import type { WritePlan } from '../plan/write'
import { logError } from '../process/log'
import { toRecords } from '../read/records'
import type { RecordValues } from '../read/rows/decode'
import { readRows } from '../read/rows/rows'
import type { Call } from '../request/session'
import { inTuples } from '../sql/list/index'
import type { WriteResult } from '../write/result'
import { idReader, keysOfIds } from './ids'
import type { RouteSteps } from './route'

/** Reads the related records of written ones. */
export interface Included {
  readonly plan: Scoped<ReadPlan>
  /** Reads the resource. */
  readonly call: Call
}

type WriteSteps<Request extends WriteRequest, Plan extends WritePlan> = RouteSteps<Request, Plan, WriteResult>

/** Adds the parameter `include` to a route that answers records. */
export const withIncluded = (
  steps: WriteSteps<WriteRequest, WritePlan>,
): WriteSteps<WriteRequest & { readonly include?: IncludeTree | undefined }, WritePlan & { readonly included?: Included }> => ({
  ...steps,
  parse(request, call) {
    const include = parseIncluded(request, call)
    return andThen(steps.parse(request, call), parsed => include ? { ...parsed, include } : parsed)
  },
  plan: ({ include, ...request }, call) => andThen(steps.plan(request, call), plan =>
    include ? planIncluded(include, call).then(included => ({ ...plan, included })) : plan),
  execute: (plan, call) => andThen(steps.execute(plan, call), result =>
    plan.included ? addIncluded([result], plan.included).then(([result]) => result!) : result),
})

/**
 * Plans and authorizes the includes before anything is written. The caller needs the permission to read the records, as for a get.
 * @throws 400, 401, 403
 */
export async function planIncluded(include: IncludeTree, write: Call): Promise<Included> {
  const { resource } = write
  // Field rules can depend on the operation, and the request remembers their decisions about the write.
  const call = { ...callFor(write, resource, 'read'), memo: new Map<string, unknown>() }
  await authorize(call, resource, ['read'])
  if (write.ctx.dryRun)
    throw invalidQuery('`include`: a dry run saves no records, so no related ones can be read. Leave `include` out.', 'include')
  const related = await planRelations({ include, counts: [] }, call)
  const plan: ReadPlan = { resource, trash: 'active', selection: keyFields(resource), where: [], order: [], count: false, ...related }
  return { plan: await applyScope(call, plan, 'read'), call }
}

/** Adds the related records to the results. The write is done, so an error only leaves them out. */
export async function addIncluded(results: readonly WriteResult[], included: Included): Promise<readonly WriteResult[]> {
  const { call: { ctx, resource } } = included
  try {
    const find = await readIncluded(results.flatMap(({ written }) => written.map(({ id }) => id)), included)
    return results.map(result => ({ ...result, written: result.written.map(item => ({ ...item, included: find(item.id) })) }))
  }
  catch (error) {
    const message = `\`${resource.name}\`: the included records of a write were not read. It is committed, and its response lacks them.`
    if (!isLimitExceeded(error)) logError(ctx, message, error)
    return results
  }
}

/**
 * Reads the related records of records as JSON, with as many statements as a list.
 * @returns a function that finds those of an id. A record that the caller cannot read has none.
 */
export async function readIncluded(
  ids: readonly string[], { plan, call }: Included,
): Promise<(id: string | undefined) => RecordValues> {
  const { resource, include } = plan
  const keys = keysOfIds(resource, ids)
  const none = () => Object.fromEntries(include.map(({ relation: { name, kind } }) => [name, kind === 'one' ? null : []]))
  if (keys.length === 0) return none
  const { fields: extraColumns } = keyFields(resource)
  const found = await readRows(narrow(plan, [inTuples(call.engine, resource.primaryKey, keys)]), { extraColumns }, call)
  const records = await toRecords(plan, found, 'wire', call)
  const idOf = idReader(resource, found.columns)
  const byId = new Map(found.rows.map((row, index) =>
    [idOf(row), Object.fromEntries(include.map(({ relation: { name } }) => [name, records[index]![name]]))]))
  return id => (id === undefined ? undefined : byId.get(id)) ?? none()
}
