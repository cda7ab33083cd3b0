/** Removes links. If the junction is a resource, its delete rules apply to each link. */
import { isDeepStrictEqual } from 'node:util'
import type { Row } from '../../../engines/engine'
import { callFor } from '../../access/authorize'
import type { Call } from '../../request/session'
import { refused } from '../../error'
import { allFields, keyFields } from '../../access/fields'
import { findHooks, itemContext } from '../../request/hooks'
import { findDependents } from '../cascade/dependents'
import type { WritePlan } from '../../plan/write'
import { inTuples } from '../../sql/list/index'
import { tupleKey } from '../../sql/tuple-key'
import { applyScope, within, type Plan } from '../../access/row-scope'
import { changedTable } from '../../commit/changes/table'
import type { WriteOperation } from '../../commit/operation'
import { conditionOperations } from '../conditions'
import { databaseDeletes } from '../database-effects'
import { toPart, type WritePart } from '../parts'
import { keysOf, type Item } from '../items'
import { keysClause } from '../targets'
import { filterLinks, readLinks, linksToVisible, type LinkTask } from './links'
import { junctionFields } from '../../read/rows/junction'
import { checkUnchanged } from '../row-clauses'
import { decoder, valuesAt } from '../../read/rows/decode'
import { trashValues } from '../server-values'
import { deleteStatement } from '../../commit/delete'
import { selectStatement } from '../../commit/select'
import { snapshotOperations } from '../../commit/snapshot'
import { updateStatement } from '../../commit/update'
import { trashDependents } from '../delete'
import { and, not } from '../../sql/conditions'
import type { Where } from '../../sql/where'
import { parameterize } from '../../sql/parameterize'

type KeyValues = readonly (readonly unknown[])[]

export interface LinkDeletes {
  /** Its items are the links to remove, if they were read before the commit: the junction has delete rules, delete hooks or dependents. */
  readonly part: WritePart
  /** Absent if one statement removes the links, without reading them. */
  readonly read?: {
    readonly rows: readonly Row[]
    /** The primary keys of all links that were read, including the links that stay. */
    readonly existingKeys: KeyValues
  }
}

/**
 * Finds the links to remove: the links that the request names or, for a replacement, the visible links that it does not name.
 * @param visible reads the target keys of the linked records that the caller can see. It runs only for a replacement.
 * @throws 403 for a link that the caller can see but cannot delete.
 */
export async function planDeletes(task: LinkTask, visible: () => Promise<KeyValues>, call: Call): Promise<LinkDeletes> {
  const { link: { relation, through }, ofParent, targets, mode } = task
  const { junction: { resource, registered } } = relation
  const removal = { kind: 'delete', items: [], bulk: false, atomic: true, selection: keyFields(resource) } as const
  const unread = { part: toPart(within<Plan, WritePlan>(through, removal), call, []) }
  if (!registered) return unread
  const deleteRules = await applyScope<Plan>(call, { resource, trash: 'active' }, 'delete')
  if (!deleteRules.accepts && isSameScope(deleteRules.scope, through.scope, call) && !mustReadLinks(task, call)) return unread
  const columns = allFields(resource)
  const targetFields = junctionFields(relation, relation.junction.targetKey.columns)
  const targetKeyOf = valuesAt(columns, targetFields)
  const namedKeys = new Set(targets.values.map(tupleKey))
  const where = [ofParent, ...mode === 'remove' ? [inTuples(call.engine, targetFields, targets.values)] : [], ...through.scope]
  const existing = await call.engine.query(selectStatement(call, resource, where, columns))
  const removable = mode === 'remove' ? namedKeys : new Set((await visible()).map(tupleKey).filter(target => !namedKeys.has(target)))
  const candidates = existing.filter(row => removable.has(tupleKey(targetKeyOf(row))))
  const rows = through.accepts ? await filterLinks(candidates, resource, through) : candidates
  const keyOf = valuesAt(columns, resource.primaryKey)
  const junctionCall = callFor(call, resource, 'delete')
  const named = rows.length > 0 ? await readLinks(deleteRules, [inTuples(call.engine, resource.primaryKey, rows.map(keyOf))], call) : []
  // As on the junction's own routes: the caller can see the link, but cannot delete it.
  if (named.length < rows.length) throw refused(junctionCall.ctx)
  const decode = decoder(columns)
  const items = rows.map((row, index): Item => {
    const record = decode(row)
    return {
      index,
      key: resource.primaryKey.map(field => record[field.name]),
      row,
      sent: [],
      values: {},
      original: {},
      ctx: itemContext(junctionCall),
    }
  })
  const scope = [...through.scope, ...deleteRules.scope, ...mode === 'replace' ? [linksToVisible(task.link)] : []]
  const plan = within<Plan, WritePlan>({ ...deleteRules, scope }, removal)
  return { part: { ...toPart(plan, junctionCall, items), isLoaded: true }, read: { rows, existingKeys: existing.map(keyOf) } }
}

const isSameScope = (some: readonly Where[], others: readonly Where[], { engine }: Call) =>
  isDeepStrictEqual({ ...parameterize(engine, and(some)) }, { ...parameterize(engine, and(others)) })

/** The junction's delete hooks and the cascade to its dependents need the links before they are deleted. */
function mustReadLinks({ link: { relation: { junction: { resource } } } }: LinkTask, call: Call): boolean {
  const hooks = [...findHooks(call, resource, 'beforeDelete'), ...findHooks(call, resource, 'afterDelete')]
  return hooks.length > 0 || findDependents(call.api.graph, resource.table).edges.length > 0
}

/**
 * Removes the links in one statement. A soft delete also moves the links' dependents to the trash.
 * Before that, it checks that the links still exist. If the junction has an `objectLevel` rule, the links must also be unchanged.
 */
export function deleteLinkOperations(
  task: LinkTask, { plan, items, written }: WritePart, { rows, existingKeys }: NonNullable<LinkDeletes['read']>, call: Call, time: Date,
): WriteOperation[] {
  const { counts, ofParent, mode, link: { through } } = task
  const { resource, scope } = plan
  const { primaryKey } = resource
  const additionChecks: WriteOperation[]
    = mode === 'replace' ? [noOtherLinks(resource, [ofParent, ...through.scope], existingKeys, call)] : []
  if (items.length === 0) return additionChecks
  const columns = allFields(resource)
  const where = [inTuples(call.engine, primaryKey, rows.map(valuesAt(columns, primaryKey))), ...scope]
  const existenceCheck: WriteOperation = {
    statement: { ...selectStatement(call, resource, where, keyFields(resource), 'update'), expectedRows: items.length },
    expectation: 'group',
  }
  const checks = [
    ...plan.accepts ? checkUnchanged(plan, columns, rows, 'update', call) : [existenceCheck],
    // The link exists, so that its condition is the only reason why this check can fail.
    ...conditionOperations(plan, items, call).map(operation => ({ ...operation, expectation: 'condition' as const })),
  ]
  const trash = () => trashValues(plan, crypto.randomUUID(), call, time)
  const removal: WriteOperation = {
    statement: resource.roles.deletedAt
      ? { ...updateStatement(call, resource, trash(), where, keyFields(resource)), expectedRows: undefined }
      : { ...deleteStatement(call, resource, where), expectedRows: undefined },
    read: () => {
      counts.removed += items.length
      for (const { index } of items) written.set(index, {})
    },
    changes: { table: changedTable(call, resource), kind: 'unlink', keys: keysOf(items) },
  }
  return [
    ...additionChecks,
    ...checks,
    ...snapshotOperations(call, resource, where, false),
    ...resource.roles.deletedAt
      ? [removal, ...trashDependents(plan, items, call, time)]
      : [...databaseDeletes(call, resource, keysClause(plan, items, call), keysOf(items)), removal],
  ]
}

/** Fails the commit of a replacement when another request has added a link since the links were read. */
export function noOtherLinks(resource: Plan['resource'], where: readonly Where[], existingKeys: KeyValues, call: Call): WriteOperation {
  const others = existingKeys.length > 0 ? [not(inTuples(call.engine, resource.primaryKey, existingKeys))] : []
  return {
    statement: { ...selectStatement(call, resource, [...where, ...others], keyFields(resource)), expectedRows: 0 },
    expectation: 'group',
  }
}
