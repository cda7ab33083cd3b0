/** Plans the change of one relation's links and builds its operations: remove links, add links and count the remaining links. */
import type { Call } from '../../request/session'
import { keyFields } from '../../access/fields'
import type { WritePlan } from '../../plan/write'
import { inTuples } from '../../sql/list/index'
import { tupleKey } from '../../sql/tuple-key'
import { narrow } from '../../access/row-scope'
import { hasListeners, reportedColumns, reportRows } from '../../commit/changes/report'
import { rowsWhere } from '../../commit/changes/source'
import { changedTable } from '../../commit/changes/table'
import type { WriteOperation } from '../../commit/operation'
import { createLinkOperations, findLinked, planCreates, readAddedOperations } from './create-links'
import { deleteLinkOperations, noOtherLinks, planDeletes, type LinkDeletes } from './delete-links'
import { linkedTo, linksToVisible, type LinkCreates, type LinkTask, type ScopedLink } from './links'
import { junctionFields, joinCondition } from '../../read/rows/junction'
import { checkUnchanged } from '../row-clauses'
import { readRows, type Rows } from '../../read/rows/rows'
import { valuesAt } from '../../read/rows/decode'
import { databaseDeletes } from '../database-effects'
import { trashValues } from '../server-values'
import { deleteStatement } from '../../commit/delete'
import { selectStatement } from '../../commit/select'
import { updateStatement } from '../../commit/update'
import { and, not } from '../../sql/conditions'
import { statement } from '../../sql/parameterize'
import { EMPTY, where, type Where } from '../../sql/where'

/** Returns whether an object-level rule decides which links or linked records are visible. SQL cannot evaluate such a rule. */
export const hasObjectLevel = ({ plan, through }: ScopedLink) => plan.accepts !== undefined || through.accepts !== undefined

/** The planned change of a relation's links. */
export interface LinkChange {
  readonly task: LinkTask
  readonly creates?: LinkCreates
  readonly deletes?: LinkDeletes
  /**
   * The linked records that their object-level rule accepts, and the primary keys of all links. It is set only for a replacement, and
   * only if the linked resource has such a rule.
   */
  readonly accepted?: { readonly records: Rows, readonly linkKeys: readonly (readonly unknown[])[] }
}

/** @throws 403 or 400 when the junction refuses a link. */
export async function planLinkChange(task: LinkTask, call: Call): Promise<LinkChange> {
  const { link, mode, ofParent } = task
  const { resource } = link.relation.junction
  const keys = keyFields(resource)
  const visibleLinks = selectStatement(call, resource, [ofParent, ...link.through.scope], keys)
  const accepted = mode === 'replace' && link.plan.accepts
    ? { records: await readVisible(task, call), linkKeys: (await call.engine.query(visibleLinks)).map(valuesAt(keys, resource.primaryKey)) }
    : undefined
  const visible = async () => valuesOfLinked(link, accepted?.records ?? await readVisible(task, call))
  const deletes = mode === 'add' ? undefined : await planDeletes(task, visible, call)
  const creates = mode === 'remove' ? undefined : await planCreates(task, call)
  return { task, ...creates && { creates }, ...deletes && { deletes }, ...accepted && { accepted } }
}

export function linkOperations({ task, creates, deletes, accepted }: LinkChange, call: Call, time: Date): WriteOperation[] {
  const { link, ofParent, counts } = task
  const added: WriteOperation[] = creates
    ? [...createLinkOperations(task, creates, call, time), ...readAddedOperations(task, creates, call)]
    : []
  const removed = deletes?.read
    ? deleteLinkOperations(task, deletes.part, deletes.read, call, time)
    : deletes ? removeOperations(task, accepted, call, time) : []
  const total: WriteOperation[] = hasObjectLevel(link)
    ? []
    : [{ statement: countLinks(link, ofParent, call), read: ({ rows }) => {
        counts.total = Number(rows[0]![0])
      } }]
  return [...accepted ? checkAcceptedRecords(task, accepted.records, call) : [], ...removed, ...added, ...total]
}

/** Fails the commit of a replacement if a record whose link it removes has changed since an object-level rule accepted the record. */
function checkAcceptedRecords({ link: { relation, plan }, targets }: LinkTask, { columns, rows }: Rows, call: Call): WriteOperation[] {
  const named = new Set(targets.values.map(tupleKey))
  const targetOf = valuesAt(columns, relation.foreignColumns)
  return checkUnchanged(plan, columns, rows.filter(row => !named.has(tupleKey(targetOf(row)))), 'share', call)
}

/**
 * Removes the links that the request names. A replacement removes the links to visible records that the request does not name. Links
 * that the caller cannot see stay.
 */
function removeOperations(
  task: LinkTask,
  accepted: LinkChange['accepted'],
  call: Call,
  time: Date,
): WriteOperation[] {
  const { link: { relation, through }, ofParent, counts } = task
  const { resource } = relation.junction
  const where = removedClauses(task, accepted, call)
  const reported = reportedColumns(call, changedTable(call, resource))
  const reportChanges: WriteOperation = {
    statement: { ...selectStatement(call, resource, where, reported, 'update'), expectedRows: undefined },
    changes: reportRows(call, resource, 'unlink', reported, 'before', () => rowsWhere(changedTable(call, resource), where)),
  }
  const trash = () => trashValues({ resource } as WritePlan, crypto.randomUUID(), call, time)
  return [
    ...(accepted ? [noOtherLinks(resource, [ofParent, ...through.scope], accepted.linkKeys, call)] : []),
    ...(hasListeners(call) ? [reportChanges] : []),
    ...(resource.roles.deletedAt ? [] : databaseDeletes(call, resource, and(where), [])),
    {
      statement: resource.roles.deletedAt
        ? { ...updateStatement(call, resource, trash(), where, keyFields(resource)), expectedRows: undefined }
        : { ...deleteStatement(call, resource, where), expectedRows: undefined },
      read: ({ affectedRows }) => {
        counts.removed += affectedRows
      },
    },
  ]
}

/** Matches the links that {@link removeOperations} removes. */
function removedClauses({ link, mode, ofParent, targets }: LinkTask, accepted: LinkChange['accepted'], call: Call): readonly Where[] {
  const { relation, through } = link
  const targetFields = junctionFields(relation, relation.junction.targetKey.columns)
  const named = inTuples(call.engine, targetFields, targets.values)
  const notNamed = targets.values.length > 0 ? [not(named)] : []
  const visible = () => (accepted ? inTuples(call.engine, targetFields, valuesOfLinked(link, accepted.records)) : linksToVisible(link))
  return [ofParent, ...(mode === 'remove' ? [named] : [...notNamed, visible()]), ...through.scope]
}

/**
 * Sets the counts of a dry run, as far as its operations could not. SQL cannot count links under an object-level rule, and some engines
 * return no outcomes of a commit that rolls back.
 */
export async function predictCounts({ task, creates, deletes, accepted }: LinkChange, call: Call): Promise<void> {
  const { link, counts, ofParent } = task
  if (!call.engine.supportsFollowUp) {
    const { resource } = link.relation.junction
    const removed = async () => (await call.engine.query(
      selectStatement(call, resource, removedClauses(task, accepted, call), keyFields(resource)))).length
    counts.removed = deletes?.read ? deletes.part.items.length : deletes ? await removed() : 0
    const linked = creates ? await findLinked(task, call) : new Map()
    counts.added = creates?.newLinks.filter(({ target }) => !linked.has(tupleKey(target))).length ?? 0
    if (!hasObjectLevel(link)) counts.total = Number((await call.engine.query(countLinks(link, ofParent, call)))[0]![0])
  }
  else if (!hasObjectLevel(link)) return
  if (hasObjectLevel(link)) counts.total = await countVisible(task, call)
  counts.total += counts.added - counts.removed
}

/** Reads the linked records that the caller can see. */
async function readVisible({ link, parent }: Pick<LinkTask, 'link' | 'parent'>, call: Call): Promise<Rows> {
  return readRows(narrow(link.plan, [await linkedTo(link.relation, parent, link.through, call)]), { cursor: true }, call)
}

/** Returns the target keys of linked records. */
const valuesOfLinked = ({ relation }: ScopedLink, { columns, rows }: Rows) => rows.map(valuesAt(columns, relation.foreignColumns))

/** Reads and counts the linked records that the caller can see. Under an object-level rule, SQL cannot count them. */
export const countVisible = async (task: LinkTask, call: Call) => (await readVisible(task, call)).rows.length

/** Counts the links to visible records: `select count(*) from junction where post_id = ? and exists (select 1 from tags where …)`. */
function countLinks({ relation, plan, through }: ScopedLink, ofParent: Where, call: Call) {
  const { junction, foreignColumns, target } = relation
  const isTarget = joinCondition(junctionFields(relation, junction.targetKey.columns), foreignColumns)
  const isVisible = plan.scope.length > 0 ? where` and ${and(plan.scope, true)}` : EMPTY
  const record = where`select 1 from ${target.table} where ${isTarget}${isVisible}`
  const isLink = and([ofParent, ...through.scope])
  const count = statement(call, where`select count(*) from ${junction.resource.table} where ${isLink} and exists (${record})`)
  return { ...count, returnsRows: true }
}
