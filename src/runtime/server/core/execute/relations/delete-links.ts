/** Links that are removed: where the junction is a resource, each of them is one of its deletes, with all the rules it has for that. */
import { isDeepStrictEqual } from 'node:util'
import type { Row } from '../../../engines/engine'
import type { Call } from '../../context'
import { refused } from '../../error'
import { allFields, keyFields } from '../../access/fields'
import { findHooks, hookId, itemContext, runAfterHooks, runHooks, type AnyHook } from '../../hooks'
import { findDependents } from '../cascade/dependents'
import type { WritePlan } from '../../plan/write'
import { shapeOf, valuesOf, type Clause } from '../../sql/clause'
import { inTuples } from '../../sql/list/index'
import { tupleKey } from '../../sql/tuple-key'
import { applyScope, within, type Plan, type Scoped } from '../../access/row-scope'
import { changeOf } from '../commit/changes'
import type { WriteOperation } from '../commit/operation'
import type { Item } from '../write/items'
import { forJunction, filterLinks, negate, linksToVisible, type HookResults, type LinkTask } from './links'
import { junctionFields } from '../rows/junction'
import { checkUnchanged } from '../write/row-clauses'
import { decoder, valuesAt } from '../rows/decode'
import { trashValues } from '../write/server-values'
import { deleteStatement } from '../commit/delete'
import { selectStatement } from '../commit/select'
import { updateStatement } from '../commit/update'
import { trashDependents } from '../write/delete'

type LinkValues = readonly (readonly unknown[])[]

/** The links that are removed one by one, because rules or hooks of the junction ask of each, or rows hang on them. */
export interface LinkDeletes {
  readonly plan: Scoped<WritePlan>
  /** The request as it is for the junction. */
  readonly call: Call
  readonly items: readonly Item[]
  readonly rows: readonly Row[]
  /** The keys of all links that were looked at. */
  readonly known: LinkValues
}

/**
 * What of the named links goes, or, of a replacement, of those that are not named.
 * @param visible of a replacement: what the links to records hold that the caller can see.
 * @returns nothing where one statement can tell them.
 * @throws 403 for a link that the caller can see and may not delete.
 */
export async function planDeletes(task: LinkTask, visible: () => Promise<LinkValues>, call: Call): Promise<LinkDeletes | undefined> {
  const { link: { relation, through }, ofParent, targets, mode } = task
  const { junction: { resource, registered } } = relation
  if (!registered || mode === 'add') return undefined
  const gone = await applyScope<Plan>(call, { resource, trash: 'active' }, 'delete')
  if (!gone.accepts && isSame(gone.scope, through.scope) && !needsEachLink(task, call)) return undefined
  const columns = allFields(resource)
  const targetFields = junctionFields(relation, relation.junction.targetKey.columns)
  const linkedTo = valuesAt(columns, targetFields)
  const named = new Set(targets.values.map(tupleKey))
  const where = [ofParent, ...mode === 'remove' ? [inTuples(call.engine, targetFields, targets.values)] : [], ...through.scope]
  const all = await call.engine.query(selectStatement(call, resource, where, columns))
  const seen = mode === 'remove' ? named : new Set((await visible()).map(tupleKey).filter(target => !named.has(target)))
  const wanted = all.filter(row => seen.has(tupleKey(linkedTo(row))))
  const rows = through.accepts ? await filterLinks(wanted, resource, through) : wanted
  const keyOf = valuesAt(columns, resource.primaryKey)
  const own = forJunction(call, resource, 'delete')
  await assertDeletable(rows, rows.map(keyOf), gone, own)
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
      ctx: itemContext(own),
    }
  })
  const scope = [...through.scope, ...gone.scope, ...mode === 'replace' ? [linksToVisible(task.link)] : []]
  const plan = within<Plan, WritePlan>(
    { ...gone, scope },
    { kind: 'delete', items: [], bulk: true, atomic: true, selection: keyFields(resource) },
  )
  return { plan, call: own, items, rows, known: all.map(keyOf) }
}

const isSame = (some: readonly Clause[], others: readonly Clause[]) =>
  shapeOf(some) === shapeOf(others) && isDeepStrictEqual(valuesOf(some), valuesOf(others))

/** Hooks are told of each link, and rows that hang on it go with it. */
function needsEachLink({ link: { relation: { junction: { resource } } } }: LinkTask, call: Call): boolean {
  const hooks = [...findHooks(call, resource, 'beforeDelete'), ...findHooks(call, resource, 'afterDelete')]
  return hooks.length > 0 || findDependents(call.api.graph, resource.table).edges.length > 0
}

/** What can be seen and may not be deleted is forbidden, as on the junction's own routes. */
async function assertDeletable(rows: readonly Row[], keys: LinkValues, gone: Scoped<Plan>, call: Call): Promise<void> {
  const { resource } = gone
  if (rows.length === 0) return
  const where = [inTuples(call.engine, resource.primaryKey, keys), ...gone.scope]
  const found = await call.engine.query(selectStatement(call, resource, where, keyFields(resource)))
  if (found.length < rows.length) throw refused(call.ctx)
  if (gone.accepts && (await filterLinks(rows, resource, gone)).length < rows.length) throw refused(call.ctx)
}

export async function runBeforeDeleteHooks({ link }: LinkTask, { plan: { resource }, call, items }: LinkDeletes, hooked: HookResults): Promise<void> {
  for (const item of items) {
    const known = `${link.relation.name} - ${tupleKey(item.key!)}`
    const before = hooked.get(known)
    if (before) Object.assign(item, before)
    else await runHooks(call, 'beforeDelete', item.values, run => (run as AnyHook)(hookId(resource, item.key!), item.ctx))
    hooked.set(known, { values: item.values, ctx: item.ctx })
  }
}

/** Each must still be there, and what it was where code judged it; then all go in one statement, and what hangs on them with them. */
export function deleteLinkOperations(task: LinkTask, { plan, items, rows, known }: LinkDeletes, call: Call): WriteOperation[] {
  const { counts, ofParent, mode, link: { through } } = task
  const { resource, scope } = plan
  const { primaryKey } = resource
  const nothingElse: WriteOperation[] = mode === 'replace' ? [noOtherLinks(resource, [ofParent, ...through.scope], known, call)] : []
  if (items.length === 0) return nothingElse
  const columns = allFields(resource)
  const where = [inTuples(call.engine, primaryKey, rows.map(valuesAt(columns, primaryKey))), ...scope]
  const locked: WriteOperation = {
    statement: { ...selectStatement(call, resource, where, keyFields(resource), 'update'), expectedRows: items.length },
    expectation: 'group',
  }
  const still = plan.accepts ? checkUnchanged(plan, columns, rows, 'update', call) : [locked]
  const time = new Date()
  const trash = () => trashValues(plan, crypto.randomUUID(), call, time)
  const gone: WriteOperation = {
    statement: resource.roles.deletedAt
      ? { ...updateStatement(call, resource, trash(), where, keyFields(resource)), expectedRows: undefined }
      : { ...deleteStatement(call, resource, where), expectedRows: undefined },
    read: () => {
      counts.removed += items.length
    },
    changes: () => items.map(({ key }) => changeOf(call, resource, 'unlink', key!)),
  }
  return [...nothingElse, ...still, gone, ...resource.roles.deletedAt ? trashDependents(plan, items, call, time) : []]
}

/** A replacement that was decided by what was read holds only as long as nothing was added to it. */
export function noOtherLinks(resource: Plan['resource'], where: readonly Clause[], known: LinkValues, call: Call): WriteOperation {
  const others = known.length > 0 ? [negate(inTuples(call.engine, resource.primaryKey, known))] : []
  return { statement: { ...selectStatement(call, resource, [...where, ...others], keyFields(resource)), expectedRows: 0 }, expectation: 'group' }
}

export async function runAfterDeleteHooks({ plan: { resource }, call, items }: LinkDeletes, errors: unknown[]): Promise<void> {
  for (const { key, ctx } of items) {
    await runAfterHooks(call, 'afterDelete', undefined, run => (run as AnyHook)(hookId(resource, key!), ctx), errors)
  }
}
