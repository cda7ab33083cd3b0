/** Counts the rows that a delete, a purge or a restore changes: by resource, and only the rows that the caller can see. */
import { digest } from 'ohash'
import type { GraphNode } from '../../schema/graph'
import type { Resource } from '../../schema/model'
import { toId } from '../../schema/record-id'
import { can } from '../access/authorize'
import { keyFields } from '../access/fields'
import { applyScope, type Plan, type Scoped } from '../access/row-scope'
import type { Call } from '../request/session'
import { ApiError, isLimitExceeded } from '../error'
import type { ReadPlan } from '../plan/read-plan'
import type { WritePlan } from '../plan/write'
import { namedRows } from './cascade/cascaded-source'
import { primaryKeyOf, selectKeys, tuple, withClosure, type Closure } from './cascade/closure/index'
import { findDependents } from './cascade/dependents'
import { countRows } from '../read/count'
import { valuesAt } from '../read/rows/decode'
import { scanBatches } from '../read/rows/scan'
import { databaseClosure } from './database-effects'
import { closureOf, dependentTables } from './dependents'
import { namedRowsOf, withoutError, type Item } from './items'
import { keysClause } from './targets'
import { and, not, or } from '../sql/conditions'
import { where, type Where } from '../sql/where'
import type { WritePart } from './parts'

type TrashMode = Plan['trash']

/** The named rows of one resource. The write of a group has several parts. */
export interface AffectedPart {
  readonly plan: Scoped<WritePlan>
  readonly items: readonly Item[]
}

export interface Affected {
  /** The number of rows by resource. A resource without rows is absent. */
  readonly affected: Readonly<Record<string, number>>
  /** More rows would have to be checked one by one than `objectLevelMaxRows`. At least the given numbers are affected. */
  readonly affectedIsMore?: true
  /**
   * Stands for the kind of the write and the ids of these rows. Of more than `objectLevelMaxRows` rows of a resource, it stands for the
   * first ones and the number. It is absent for a batch that is not atomic.
   */
  readonly confirm?: string
}

/** The rows that a cascade changes beside the named rows. */
interface Cascade {
  readonly closure: Closure
  readonly tables: readonly GraphNode[]
  /** The state of the changed rows before the write. */
  readonly trash: TrashMode
}

/**
 * Refuses a write of other rows than those of the preview. A write that changes the rows at the same time can still come in between.
 * @throws `CONFLICT` with the preview of today
 */
export async function assertConfirmed(parts: readonly WritePart[], { plan, call }: Pick<WritePart, 'plan' | 'call'>): Promise<void> {
  const named = parts.map(({ plan, items }) => ({ plan, items: withoutError(items) }))
  const preview = await countAffected(named, call)
  if (plan.confirm !== preview.confirm)
    throw new ApiError('CONFLICT', 'This would change other records than the preview has shown. Nothing was changed.', { ...preview })
}

/** Reads the keys of the rows of each resource that a cascade can reach. */
export async function countAffected(parts: readonly AffectedPart[], call: Call): Promise<Affected> {
  const affected: Record<string, number> = {}
  const ids: [resource: string, ids: readonly string[]][] = []
  for (const { plan: { resource }, items } of parts) {
    // The request names rows of its own resource. A group contains rows of others.
    if (items.length === 0 || (resource !== call.resource && !await canSee(call, resource, 'trashed'))) continue
    affected[resource.name] = items.length
    ids.push([resource.name, items.map(({ key }) => toId(resource, key!)).sort()])
  }
  let affectedIsMore = false
  for (const [resource, rows] of cascadedRows(parts, call)) {
    const trash = await visibleState(call, resource, rows.trash)
    if (!trash) continue
    const { count, isMore, ids: found } = await readVisible(resource, trash, rows.where, call)
    affectedIsMore ||= isMore
    if (count > 0) affected[resource.name] = (affected[resource.name] ?? 0) + count
    ids.push([resource.name, found])
  }
  const isAtomic = parts.every(({ plan }) => plan.atomic)
  return {
    affected,
    ...affectedIsMore && { affectedIsMore },
    ...isAtomic && { confirm: digest(JSON.stringify([parts.map(({ plan }) => plan.kind), affected, ids])).slice(0, 22) },
  }
}

async function canSee(call: Call, resource: Resource, trash: TrashMode): Promise<boolean> {
  return await can(call, resource, 'read') && (trash === 'active' || await can(call, resource, 'viewDeleted'))
}

/** Returns the part of the rows that the caller can see. */
async function visibleState(call: Call, resource: Resource, trash: TrashMode): Promise<TrashMode | undefined> {
  if (await canSee(call, resource, resource.roles.deletedAt ? trash : 'active')) return trash
  return trash === 'both' && await canSee(call, resource, 'active') ? 'active' : undefined
}

interface VisibleRows {
  readonly count: number
  readonly isMore: boolean
  /** The first ones, at most `objectLevelMaxRows`. */
  readonly ids: readonly string[]
}

const KEYS_AT_ONCE = 10_000

/** Counts the rows. Memory does not grow with their number: it contains at most `objectLevelMaxRows` ids. */
async function readVisible(resource: Resource, trash: TrashMode, where: Where, call: Call): Promise<VisibleRows> {
  const read: ReadPlan = { resource, trash, selection: keyFields(resource), where: [where], order: [], count: false, include: [] }
  const plan = await applyScope(call, read, 'read')
  const ids: string[] = []
  try {
    const maxScanned = call.api.config.objectLevelMaxRows
    // Each statement walks the whole cascade, so few of them read the keys. A rule in code needs whole rows, which are larger.
    const options = { maxScanned, ...!plan.accepts && { maxBatch: KEYS_AT_ONCE } }
    for await (const { rows, columns } of scanBatches(plan, options, call)) {
      const keyOf = valuesAt(columns, resource.primaryKey)
      for (const row of rows) ids.push(JSON.stringify(keyOf(row).map(String)))
    }
  }
  catch (error) {
    if (!isLimitExceeded(error)) throw error
    return plan.accepts ? { count: ids.length, isMore: true, ids } : { count: await countRows(plan, call), isMore: false, ids }
  }
  return { count: ids.length, isMore: false, ids }
}

/** Returns the condition of the cascaded rows of each resource. A row that several parts reach matches once. */
function cascadedRows(
  parts: readonly AffectedPart[], call: Call,
): ReadonlyMap<Resource, { readonly trash: TrashMode, readonly where: Where }> {
  const named = new Map(parts.flatMap(({ plan, items }) => [...namedRowsOf(plan, items)]))
  const cascades = parts.flatMap(({ plan, items }) => items.length > 0 ? cascadesOf(plan, items, call) : [])
  const reached = cascades.flatMap(({ closure, tables, trash }) => tables.map(node => ({ node, trash, clause: inClosure(closure, node) })))
  const rows = new Map<Resource, { readonly trash: TrashMode, readonly where: Where }>()
  for (const node of new Set(reached.map(({ node }) => node))) {
    const found = reached.filter(other => other.node === node)
    const others = namedRows(call, node, named)
    const notNamed = others ? [not(others)] : []
    const where = and([or(found.map(({ clause }) => [clause])), ...notNamed])
    for (const resource of call.api.resources.values()) {
      if (resource.table === node.table) rows.set(resource, { trash: found[0]!.trash, where })
    }
  }
  return rows
}

/** `id in (with recursive reached … select k0 from reached where t = 1)` */
const inClosure = (closure: Closure, node: GraphNode): Where =>
  where`${tuple(primaryKeyOf(node))} in (${withClosure(closure)} ${selectKeys(closure, node)})`

function cascadesOf(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): readonly Cascade[] {
  const { resource, kind, groupRows } = plan
  const withTrash = (node: GraphNode) => node.roles.deletedAt !== undefined
  if (kind === 'restore') {
    const closure = closureOf(plan, items, call, 'grouped')
    return [{ closure, tables: dependentTables(closure, node => withTrash(node) && !groupRows?.has(node.table)), trash: 'trashed' }]
  }
  if (kind === 'delete' && resource.roles.deletedAt) {
    if (resource.auth?.softDelete?.cascade === 'off') return []
    const closure = closureOf(plan, items, call, 'active')
    return [{ closure, tables: dependentTables(closure, withTrash), trash: 'active' }]
  }
  const closure = kind === 'purge'
    ? closureOf(plan, items, call, 'all')
    : databaseClosure(call, findDependents(call.api.graph, resource.table, 'database'), keysClause(plan, items, call))
  return [{ closure, tables: dependentTables(closure, () => true), trash: 'both' }]
}
