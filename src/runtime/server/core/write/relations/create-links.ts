/** Creates links. If the junction is a resource, its create rules apply to each link. */
import { groupBy } from '../../../../shared/group-by'
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import { callFor } from '../../access/authorize'
import type { Call } from '../../request/session'
import { allFields, keyFields, readableFields, select } from '../../access/fields'
import { findHooks } from '../../request/hooks'
import type { WritePlan } from '../../plan/write'
import { inTuples } from '../../sql/list/index'
import { tupleKey } from '../../sql/tuple-key'
import { within, type Plan } from '../../access/row-scope'
import { needsSources, reportRows, withReported } from '../../commit/changes/report'
import { rowsWhere } from '../../commit/changes/source'
import { changedTable } from '../../commit/changes/table'
import type { WriteOperation } from '../../commit/operation'
import { findTrashed, restoreLinkOperations } from './restore-links'
import {
  readLinks, linkedClauses, sameLink, type FirstLinks, type LinkCreates, type LinkTask, type NewLink, type ScopedLink,
} from './links'
import { junctionFields } from '../../read/rows/junction'
import { valuesAt } from '../../read/rows/decode'
import { createValues } from '../server-values'
import { insertStatements, type Unless } from '../../commit/insert'
import { selectStatement } from '../../commit/select'
import { referenceOperations } from '../reference-operations'
import { writableValues } from '../writable-values'
import { toPart, type WritePart } from '../parts'
import { toNewLink } from './new-link'
import { isNull } from '../../sql/conditions'
import type { Where } from '../../sql/where'

/** @throws `VALIDATION_FAILED` for a link that the junction's schema does not accept. */
export async function planCreates(task: LinkTask, call: Call): Promise<LinkCreates> {
  const { link, targets } = task
  const { relation: { junction }, metadata } = link
  const { resource, registered } = junction
  const empty = await createPart(link, call)
  const { call: junctionCall } = empty
  const linked = registered || needsSources(call) ? await findLinked(task, call) : new Map<string, readonly unknown[]>()
  const seen = registered && linked.size > 0 ? await findSeen(task, call) : undefined
  const insertExisting = !needsSources(call) && canInsertExisting(link, call)
  const kept: (readonly unknown[])[] = []
  const items: NewLink[] = []
  const hidden: NewLink[] = []
  for (const [index, target] of targets.values.entries()) {
    const existing = linked.get(tupleKey(target))
    const isHidden = existing !== undefined && seen?.has(tupleKey(target)) === false
    // An existing link needs no metadata, but metadata that the client sends for it must be valid.
    const withoutMetadata = existing !== undefined && !isHidden && Object.keys(metadata[index]!).length === 0
    const checked = withoutMetadata && !insertExisting ? undefined : toNewLink(task, index, target, junctionCall)
    const item = await checked?.catch((error: unknown) => {
      if (!withoutMetadata) throw error
    })
    if (!existing || (item && insertExisting)) items.push(item!)
    else {
      kept.push(existing)
      if (isHidden) hidden.push(item!)
    }
  }
  const trashed = items.length > 0 && resource.roles.deletedAt ? await findTrashed(task, items, call) : undefined
  const links = [...items, ...hidden]
  return { part: { ...empty, items: links }, links, newLinks: items, kept, ...trashed && { trashed }, added: new Set() }
}

/** The part that creates links, before it has items. */
async function createPart({ relation: { junction }, through, tenantId }: ScopedLink, call: Call): Promise<WritePart> {
  const { resource, registered } = junction
  const junctionCall = registered ? callFor(call, resource, 'create') : call
  const plan = within<Plan, WritePlan>(through, {
    kind: 'create', items: [], bulk: false, atomic: true, tenantId,
    // An error names only these fields.
    selection: registered ? await readableFields(junctionCall, resource) : allFields(resource),
  })
  // The plan of the link has checked the record and the records to link.
  const isChecked = ({ columns, foreignTable }: ForeignKeyFacts) =>
    [junction.sourceKey, junction.targetKey].some(side => side.foreignTable === foreignTable && side.columns.join() === columns.join())
  return { ...toPart(plan, junctionCall, []), isChecked }
}

/** Plans the links of a record that the commit creates. There are no others of this record. */
export async function planFirstLinks(task: FirstLinks, call: Call): Promise<WritePart> {
  const part = await createPart(task.link, call)
  const items: NewLink[] = []
  for (const [index, target] of task.targets.values.entries()) items.push(await toNewLink(task, index, target, part.call))
  return { ...part, items }
}

/** Without hooks and field rules, the insert can contain existing links, because its statement skips them. */
function canInsertExisting({ relation: { junction: { resource, registered } } }: ScopedLink, call: Call): boolean {
  return !registered || (!resource.auth?.fields && findHooks(call, resource, 'beforeCreate').length === 0 && !hasAfter(call, resource))
}

const hasAfter = (call: Call, resource: WritePlan['resource']) => findHooks(call, resource, 'afterCreate').length > 0

/** Returns the target keys of the existing links that the caller can see, or `undefined` if the caller can see all of them. */
async function findSeen(task: LinkTask, call: Call): Promise<ReadonlySet<string> | undefined> {
  const { link: { relation, through }, targets } = task
  const { resource } = relation.junction
  const existing = linkedClauses(task)
  // Both match the tenant and the trash. A shorter scope has no further conditions.
  if (!through.accepts && through.scope.length < existing.length) return undefined
  const targetFields = junctionFields(relation, relation.junction.targetKey.columns)
  const visible = await readLinks(through, [...existing, inTuples(call.engine, targetFields, targets.values)], call)
  return new Set(visible.map(row => tupleKey(valuesAt(allFields(resource), targetFields)(row))))
}

/** Reads the primary keys of the existing links, by their target key. */
export async function findLinked(task: LinkTask, call: Call): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const { link: { relation }, targets } = task
  if (targets.values.length === 0) return new Map()
  const { resource } = relation.junction
  const targetFields = junctionFields(relation, relation.junction.targetKey.columns)
  const selection = select(resource, field => targetFields.includes(field) || resource.primaryKey.includes(field))
  const where = [...linkedClauses(task), inTuples(call.engine, targetFields, targets.values)]
  const rows = await call.engine.query(selectStatement(call, resource, where, selection))
  return new Map(rows.map(row => [tupleKey(valuesAt(selection, targetFields)(row)), valuesAt(selection, resource.primaryKey)(row)]))
}

/** Checks the references of the metadata, restores links from the junction's trash, and inserts the other links. */
export function createLinkOperations(task: LinkTask, creates: LinkCreates, call: Call, time: Date): WriteOperation[] {
  const { link, counts } = task
  const { resource, unique } = link.relation.junction
  const { deletedAt } = resource.roles
  const { part: { plan, call: junctionCall }, newLinks: items, added } = creates
  const columns = withReported(call, resource, keyFields(resource))
  const keyOf = valuesAt(columns, resource.primaryKey)
  const rows = items.map(item => ({ values: createValues(plan, writableValues(plan, item), junctionCall, time) }))
  // Rows that set the same columns go into one statement.
  const groups = groupBy(rows, ({ values }) => Object.keys(values).filter(name => resource.fields.has(name)).sort().join(','))
  const unless: Unless = { fields: sameLink(link), unique, where: !unique && deletedAt ? [isNull(deletedAt)] : [] }
  const addedSource = () => rowsWhere(changedTable(call, resource), addedClauses(task, items, call))
  const inserts = [...groups.values()]
    .flatMap(group => insertStatements(call, resource, group, columns, { unless }))
    .map(({ statement }, index, all): WriteOperation => ({
      statement: { ...statement, expectedRows: undefined },
      read: ({ affectedRows, rows }) => {
        counts.added += affectedRows
        for (const row of rows) added.add(tupleKey(keyOf(row)))
      },
      // One source selects the links of all statements.
      changes: reportRows(call, resource, 'link', columns, 'after', index === all.length - 1 ? addedSource : undefined),
    }))
  return [
    ...keptLinksExist(task, creates, call),
    ...needsSources(call) && items.length > 0 ? [noLinkAdded(task, creates, call)] : [],
    ...referenceOperations(items, call),
    ...restoreLinkOperations(task, creates, hasAfter(call, resource), junctionCall, time),
    ...inserts,
  ]
}

/** Fails the commit if another request has added one of the links. Plugins would otherwise receive a link that this commit did not add. */
function noLinkAdded(task: LinkTask, { newLinks: items }: LinkCreates, call: Call): WriteOperation {
  const { resource } = task.link.relation.junction
  return {
    statement: { ...selectStatement(call, resource, addedClauses(task, items, call), keyFields(resource)), expectedRows: 0 },
    expectation: 'group',
  }
}

/** Matches the links to add. Before the commit, none of them exists. */
function addedClauses(task: LinkTask, items: readonly NewLink[], call: Call): readonly Where[] {
  const { relation } = task.link
  const fields = junctionFields(relation, relation.junction.targetKey.columns)
  return [...linkedClauses(task), inTuples(call.engine, fields, items.map(({ target }) => target))]
}

/** Fails the commit of a replacement if a link that it keeps no longer exists. */
function keptLinksExist(task: LinkTask, { kept }: LinkCreates, call: Call): WriteOperation[] {
  const { resource } = task.link.relation.junction
  if (task.mode !== 'replace' || kept.length === 0) return []
  const where = [inTuples(call.engine, resource.primaryKey, kept), ...linkedClauses(task)]
  return [
    { statement: { ...selectStatement(call, resource, where, keyFields(resource)), expectedRows: kept.length }, expectation: 'group' },
  ]
}

/** Reads the added links at the end of the commit, for the after-hooks. */
export function readAddedOperations(task: LinkTask, creates: LinkCreates, call: Call): WriteOperation[] {
  const { relation } = task.link
  const { resource, registered, targetKey } = relation.junction
  const { part: { plan, written }, newLinks: items, added } = creates
  if (!registered || !hasAfter(call, resource) || items.length === 0) return []
  const fields = junctionFields(relation, targetKey.columns)
  const needed = new Set([...resource.primaryKey, ...fields])
  const selection = select(resource, field => plan.selection.byName.has(field.name) || needed.has(field))
  const where = [...linkedClauses(task), inTuples(call.engine, fields, items.map(({ target }) => target))]
  const selectAdded = { ...selectStatement(call, resource, where, selection), expectedRows: undefined }
  const [keyOf, targetOf] = [valuesAt(selection, resource.primaryKey), valuesAt(selection, fields)]
  const indexOf = new Map(items.map(({ target, index }) => [tupleKey(target), index]))
  return [{ statement: selectAdded, read: ({ rows }) => {
    for (const row of rows) {
      const index = added.has(tupleKey(keyOf(row))) ? indexOf.get(tupleKey(targetOf(row))) : undefined
      if (index !== undefined) written.set(index, { record: selectAdded.decode(row) })
    }
  } }]
}
