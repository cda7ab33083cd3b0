/** Restores or purges a cascade group: all rows that one delete moved to the trash. Either every row is written or none. */
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { changedMeanwhile, notFound } from '../error'
import { defaultFields, keyFields, readableFields } from '../access/fields'
import { authorize, callFor } from '../access/authorize'
import { itemContext } from '../request/hooks'
import { findDependents } from './cascade/dependents'
import type { ReadPlan } from '../plan/read-plan'
import type { WritePlan } from '../plan/write'
import { applyScope, within, type Scoped } from '../access/row-scope'
import type { WriteOperation } from '../commit/operation'
import { selectStatement } from '../commit/select'
import { decoder } from '../read/rows/decode'
import { readRows } from '../read/rows/rows'
import { checkConditions, hasConditions } from './conditions'
import { keysOf, type Item } from './items'
import { OPERATIONS } from './operations'
import { keysClause, loadTargets } from './targets'
import { equals } from '../sql/conditions'
import { statement } from '../sql/parameterize'
import { where } from '../sql/where'
import { locksFirst, type CommitRules } from './commit-parts'
import { hasFailed, itemsOf, toPart, type WritePart } from './parts'

/**
 * Finds the rows of the group, by resource. Resources with the fewest dependents come first.
 * @throws 404 when the resource has no trash, the group does not exist, or the caller cannot see one of its rows.
 * 409 when the group changes while it is read. 401 or 403 when one of the resources refuses the operation.
 */
export async function findGroup(plan: Scoped<WritePlan>, call: Call): Promise<readonly WritePart[]> {
  if (!plan.resource.roles.deletedAt) throw notFound()
  const parts: WritePart[] = []
  for (const resource of dependentsFirst(call)) {
    if (!resource.roles.deletionId?.fits(plan.deletionId)) continue
    const part = await findPart(resource, plan, itemsOf(parts).length, call)
    if (part) parts.push(part)
  }
  if (parts.length === 0) throw notFound()
  // Authorization runs after the 404 checks, because a 401 or 403 would disclose that the group exists.
  for (const { plan: { resource } } of parts) await authorize(call, resource, [call.ctx.operation])
  return parts
}

async function findPart(resource: Resource, plan: Scoped<WritePlan>, firstIndex: number, call: Call): Promise<WritePart | undefined> {
  const count = await countGroup(resource, plan.deletionId!, call)
  if (count === 0) return undefined
  const partCall = callFor(call, resource, call.ctx.operation)
  const partPlan = resource === plan.resource ? plan : await planPart(plan, partCall)
  const items = await readVisible(partPlan, firstIndex, partCall)
  // If a second count returns the same number, the caller cannot see one of the rows. Otherwise, another write changed the group.
  if (items.length !== count) throw await countGroup(resource, plan.deletionId!, call) === count ? notFound() : changedMeanwhile()
  return { ...toPart(partPlan, partCall, items), isLoaded: true }
}

/** Plans the same write of another resource, with the fields and the row scope of that resource. */
async function planPart({ kind, bulk, atomic, deletionId }: WritePlan, call: Call): Promise<Scoped<WritePlan>> {
  const { resource } = call
  const selection = defaultFields(await readableFields(call))
  return applyScope<WritePlan>(call, { kind, bulk, atomic, deletionId, resource, trash: 'trashed', items: [], selection })
}

/** Reads the rows of the group that the caller can see and write. */
async function readVisible(plan: Scoped<WritePlan>, firstIndex: number, call: Call): Promise<Item[]> {
  const { resource } = plan
  const where = [equals(resource.roles.deletionId!, plan.deletionId)]
  const order = resource.primaryKey.map(field => ({ field, descending: false }))
  const read = within<WritePlan, ReadPlan>(plan, { where, order, selection: keyFields(resource), count: false })
  const { columns, rows } = await readRows(read, { cursor: true, maxScanned: Infinity }, call)
  const decode = decoder(columns, keyFields(resource))
  const items = rows.map((row, index): Item => {
    const record = decode(row)
    const key = resource.primaryKey.map(field => record[field.name])
    return { index: firstIndex + index, key, sent: [], values: {}, original: {}, ctx: itemContext(call) }
  })
  await loadTargets(plan, items, call)
  return items.filter(item => item.error === undefined)
}

/** `select count(*) from t where deletion_id = ?`. The number includes hidden rows, so the response does not contain it. */
async function countGroup(resource: Resource, deletionId: string, call: Call): Promise<number> {
  const group = equals(resource.roles.deletionId!, deletionId)
  const rows = await call.engine.query(statement(call, where`select count(*) from ${resource.table} where ${group}`))
  return Number(rows[0]![0])
}

/**
 * Returns one resource per table. Resources with the fewest dependents come first, because a row can be purged only after the rows that
 * reference it.
 */
function dependentsFirst({ api }: Call): readonly Resource[] {
  const resources = [...api.resources.values()].filter(
    (resource, index, all) => all.findIndex(other => other.table === resource.table) === index,
  )
  const tables = (resource: Resource) => findDependents(api.graph, resource.table).nodes.length
  return resources.sort((a, b) => tables(a) - tables(b))
}

/**
 * The commit of a group restores or purges every row of it. The rows are those of one delete, so the error of one of them is the error of
 * the request: 404 for a row that is no longer visible, or 409 when the group has changed.
 */
export const GROUP: CommitRules = {
  operations(parts, { time, request: { call } }) {
    const groupRows = rowsOf(parts)
    return locksFirst([
      ...parts.map(checkGroup),
      ...parts.flatMap(({ plan, items, written }): WriteOperation[] =>
        OPERATIONS[plan.kind]({ ...plan, groupRows }, items, written, call, time)),
    ])
  },
  planOf: (parts, { request: { plan } }) => ({ ...plan, groupRows: rowsOf(parts) }),
  judgeAgain: ({ plan, items, call }) => Promise.resolve(loadTargets(plan, items, call)),
  stop(parts) {
    if (itemsOf(parts).some(hasFailed)) throw notFound()
  },
  toError: async (parts, { expectation, reason }) => expectation === 'row' ? await findUnmet(parts) ?? reason : reason,
}

const rowsOf = (parts: readonly WritePart[]) => new Map(parts.map(({ plan, items }) => [plan.resource.table, keysOf(items)]))

/** Returns the error of the first row that does not meet a condition of its hooks. */
async function findUnmet(parts: readonly WritePart[]): Promise<unknown> {
  for (const { plan, call, items } of parts) {
    const conditioned = items.filter(hasConditions).map(item => ({ ...item, error: undefined }))
    await loadTargets(plan, conditioned, call)
    await checkConditions(plan, conditioned, call)
    const failed = conditioned.find(({ error }) => error !== undefined)
    if (failed) return failed.error
  }
  return undefined
}

/** Fails the commit if a row no longer belongs to the group, because another write restored it or also deleted it again. */
function checkGroup({ plan: { resource, deletionId, ...plan }, items, call }: WritePart): WriteOperation {
  const where = [keysClause({ ...plan, resource }, items, call), equals(resource.roles.deletionId!, deletionId)]
  return {
    statement: { ...selectStatement(call, resource, where, keyFields(resource), 'update'), expectedRows: items.length },
    expectation: 'group',
    phase: 'lock',
  }
}
