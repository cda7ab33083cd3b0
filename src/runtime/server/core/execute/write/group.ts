/** A cascade group as a whole: everything one delete took to the trash comes back or goes for good together, or not at all. */
import { sql } from 'drizzle-orm'
import { shape } from '../../sql/shape'
import type { Resource } from '../../../schema/model'
import { forResource, type Call } from '../../context'
import { changedMeanwhile, notFound } from '../../error'
import { keyFields } from '../../access/fields'
import { authorize, inContext } from '../../access/authorize'
import { itemContext } from '../../hooks'
import { findDependents } from '../cascade/dependents'
import type { ReadPlan } from '../../plan/read-plan'
import type { WritePlan } from '../../plan/write'
import { equals, statement } from '../../sql/clause'
import { applyScope, within, type Scoped } from '../../access/row-scope'
import { commitOperations, CommitFailed, type WriteOperation } from '../commit/commit'
import type { Item, WrittenItem } from './items'
import { decoder } from '../rows/decode'
import { readRows } from '../rows/rows'
import { OPERATIONS } from './operations'
import { keysClause, loadTargets } from './targets'
import { selectStatement } from '../commit/select'

/** The rows of one resource in the group, with a scope and a call of their own. */
export interface Part {
  readonly plan: Scoped<WritePlan>
  readonly call: Call
  readonly items: readonly Item[]
  readonly written: Map<number, WrittenItem>
}

/**
 * Restores or purges every row of the group, in every resource.
 * @throws What the database refuses, 404 for a row that is not visible by now, or 409 when the group is another by now.
 */
export async function commitGroup(plan: Scoped<WritePlan>, parts: readonly Part[], call: Call): Promise<void> {
  const time = new Date()
  const apart = new Set(parts.map(({ plan }) => plan.resource.table))
  const steps = [
    ...parts.map(part => stillInGroup(part, call)),
    ...parts.flatMap(({ plan, items, written }): WriteOperation[] => OPERATIONS[plan.kind]({ ...plan, apart }, items, written, call, time)),
  ]
  try {
    await commitOperations(plan, [...steps.filter(({ phase }) => phase === 'lock'), ...steps.filter(({ phase }) => phase !== 'lock')], call)
  }
  catch (error) {
    throw error instanceof CommitFailed ? error.reason : error
  }
}

/** A row that somebody brought back meanwhile, or that went to the trash once more, is none of the group. */
function stillInGroup({ plan: { resource, deletionId, ...plan }, items }: Part, call: Call): WriteOperation {
  const where = [keysClause({ ...plan, resource }, items, call), equals(resource.roles.deletionId!, deletionId)]
  return {
    statement: { ...selectStatement(call, resource, where, keyFields(resource), 'update'), expectedRows: items.length },
    expectation: 'group',
    phase: 'lock',
  }
}

/**
 * Every row of the group, in every resource.
 * @throws 404 when the resource has no trash, there is no such group or a row of it is not visible, 409 when the group changes meanwhile, then 401 or 403 when a row's own resource refuses.
 */
export async function findGroup(plan: Scoped<WritePlan>, call: Call): Promise<readonly Part[]> {
  if (!plan.resource.roles.deletedAt) throw notFound()
  const parts: Part[] = []
  for (const resource of sorted(call)) {
    const { deletionId } = resource.roles
    if (!deletionId?.fits(plan.deletionId)) continue
    const there = await countGroup(resource, plan.deletionId!, call)
    if (there === 0) continue
    const part
      = resource === plan.resource
        ? plan
        : await applyScope(call, { ...plan, resource, trash: 'trashed' as const, include: [] }, call.ctx.operation)
    const own = forResource(call, resource, inContext(call, resource, call.ctx.operation))
    const items = await visibleItems(part, own)
    if (items.length !== there) throw await countGroup(resource, plan.deletionId!, call) === there ? notFound() : changedMeanwhile()
    parts.push({ plan: part, call: own, items, written: new Map() })
  }
  if (parts.length === 0) throw notFound()
  // Only now: a refusal would tell that there is such a group.
  for (const { plan: { resource } } of parts) await authorize(call, resource, [call.ctx.operation])
  return parts
}

async function visibleItems(plan: Scoped<WritePlan>, call: Call): Promise<Item[]> {
  const { resource } = plan
  const where = [equals(resource.roles.deletionId!, plan.deletionId)]
  const order = resource.primaryKey.map(field => ({ field, descending: false }))
  const read = within<WritePlan, ReadPlan>(plan, { where, order, selection: keyFields(resource), count: false })
  const { columns, rows } = await readRows(read, { cursor: true, maxScanned: Infinity }, call)
  const decode = decoder(columns, keyFields(resource))
  const items = rows.map((row, index): Item => {
    const record = decode(row)
    return { index, key: resource.primaryKey.map(field => record[field.name]), sent: [], values: {}, original: {}, ctx: itemContext(call) }
  })
  await loadTargets(plan, items, call)
  return items.filter(item => item.error === undefined)
}

/** How many rows there are, seen or not: a group with a row that is not visible is left alone. Tells nobody the number. */
async function countGroup(resource: Resource, deletionId: string, { api, engine }: Call): Promise<number> {
  const group = equals(resource.roles.deletionId!, deletionId)
  const counted = await engine.query(statement(api.statements, engine, shape`count group ${resource}${group.shape}`, group.values, () => ({
    sql: sql`select count(*) from ${resource.table} where ${group.build()}`,
    extra: undefined,
  })))
  return Number(counted[0]![0])
}

/** Resources that hang on others before those: what is purged must not be referred to any more. */
function sorted({ api }: Call): readonly Resource[] {
  const resources = [...api.resources.values()].filter(
    (resource, index, all) => all.findIndex(other => other.table === resource.table) === index,
  )
  const below = (resource: Resource) => findDependents(api.graph, resource.table).nodes.length
  return resources.sort((a, b) => below(a) - below(b))
}
