/** The statements that change one relation's links: what goes, what comes, what comes back from the trash, how many there are then. */
import { sql } from 'drizzle-orm'
import { shape } from '../../sql/shape'
import type { Call } from '../../context'
import { keyFields } from '../../access/fields'
import type { WritePlan } from '../../plan/write'
import { joinAnd, shapeOf, statement, valuesOf, type Clause } from '../../sql/clause'
import { inTuples } from '../../sql/list/index'
import { tupleKey } from '../../sql/tuple-key'
import { narrow } from '../../access/row-scope'
import { hasListeners } from '../commit/changes'
import type { WriteOperation } from '../commit/operation'
import { readAddedOperations, createLinkOperations, planCreates, type LinkCreates } from './create-links'
import { deleteLinkOperations, noOtherLinks, planDeletes, type LinkDeletes } from './delete-links'
import { linkChanges, linkedTo, negate, linksToVisible, type LinkTask, type ScopedLink } from './links'
import { junctionFields, joinCondition } from '../rows/junction'
import { checkUnchanged } from '../write/row-clauses'
import { readRows, type Rows } from '../rows/rows'
import { valuesAt } from '../rows/decode'
import { trashValues } from '../write/server-values'
import { deleteStatement } from '../commit/delete'
import { selectStatement } from '../commit/select'
import { updateStatement } from '../commit/update'

/** Whether links or linked records are judged by code, so that SQL alone cannot tell the visible ones. */
export const hasObjectLevel = ({ plan, through }: ScopedLink) => plan.accepts !== undefined || through.accepts !== undefined

/** What becomes of a relation's links, as far as it is known before the commit. */
export interface LinkChange {
  readonly task: LinkTask
  readonly creates?: LinkCreates
  readonly deletes?: LinkDeletes
  /** Of a replacement: the linked records that code accepted, and all links there were. */
  readonly accepted?: { readonly found: Rows, readonly known: readonly (readonly unknown[])[] }
}

/** @throws 403 and 400 where the junction refuses a link. */
export async function planLinkChange(task: LinkTask, call: Call): Promise<LinkChange> {
  const { link, mode, ofParent, targets } = task
  const { resource } = link.relation.junction
  const keys = keyFields(resource)
  const seen = selectStatement(call, resource, [ofParent, ...link.through.scope], keys)
  const judged = mode === 'replace' && link.plan.accepts
    ? { found: await readVisible(task, call), known: (await call.engine.query(seen)).map(valuesAt(keys, resource.primaryKey)) }
    : undefined
  const visible = async () => valuesOfLinked(link, judged?.found ?? await readVisible(task, call))
  const deletes = await planDeletes(task, visible, call)
  const creates = mode === 'remove' || targets.values.length === 0 ? undefined : await planCreates(task, call)
  return { task: task, ...creates && { creates }, ...deletes && { deletes }, ...judged && { accepted: judged } }
}

export async function linkOperations({ task, creates, deletes, accepted }: LinkChange, call: Call): Promise<WriteOperation[]> {
  const { link, mode, ofParent, counts } = task
  const added: WriteOperation[] = creates
    ? [...createLinkOperations(task, creates, call), ...(await readAddedOperations(task, creates, call))]
    : []
  const removed = deletes ? deleteLinkOperations(task, deletes, call) : mode === 'add' ? [] : removeOperations(task, accepted, call)
  const total: WriteOperation[] = hasObjectLevel(link)
    ? []
    : [{ statement: countLinks(link, ofParent, call), read: ({ rows }) => {
        counts.total = Number(rows[0]![0])
      } }]
  return [...accepted ? stillVisible(task, accepted.found, call) : [], ...removed, ...added, ...total]
}

/** The records whose links a replacement removes because code accepted them. */
function stillVisible({ link: { relation, plan }, targets }: LinkTask, { columns, rows }: Rows, call: Call): WriteOperation[] {
  const named = new Set(targets.values.map(tupleKey))
  const targetOf = valuesAt(columns, relation.foreignColumns)
  return checkUnchanged(plan, columns, rows.filter(row => !named.has(tupleKey(targetOf(row)))), 'share', call)
}

/** Links that one statement can tell: those named, or those to visible records that are not named. Links the caller cannot see stay. */
function removeOperations({ link, mode, ofParent, targets, counts }: LinkTask, judged: LinkChange['accepted'], call: Call): WriteOperation[] {
  const { relation, through } = link
  const { resource, targetKey: { columns } } = relation.junction
  const targetFields = junctionFields(relation, columns)
  const named = inTuples(call.engine, targetFields, targets.values)
  const others = targets.values.length > 0 ? [negate(named)] : []
  const visible = () => judged ? inTuples(call.engine, targetFields, valuesOfLinked(link, judged.found)) : linksToVisible(link)
  const where = [ofParent, ...mode === 'remove' ? [named] : [...others, visible()], ...through.scope]
  const going = { ...selectStatement(call, resource, where, keyFields(resource)), expectedRows: undefined }
  const heard: WriteOperation = { statement: going, changes: ({ rows }) => linkChanges(rows.map(going.extra), 'unlink', resource, call) }
  const trash = () => trashValues({ resource } as WritePlan, crypto.randomUUID(), call, new Date())
  return [
    ...judged ? [noOtherLinks(resource, [ofParent, ...through.scope], judged.known, call)] : [],
    ...hasListeners(call) ? [heard] : [],
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

/** The records the caller sees the record linked with. */
async function readVisible({ link, parent }: Pick<LinkTask, 'link' | 'parent'>, call: Call): Promise<Rows> {
  return readRows(narrow(link.plan, [await linkedTo(link.relation, parent, link.through, call)]), { cursor: true }, call)
}

/** What the junction holds of them. */
const valuesOfLinked = ({ relation }: ScopedLink, { columns, rows }: Rows) => rows.map(valuesAt(columns, relation.foreignColumns))

/** How many links the caller sees, where code judges them. */
export const countVisible = async (task: LinkTask, call: Call) => (await readVisible(task, call)).rows.length

/** `select count(*) from junction where post_id = ? and exists (select 1 from tags where …)` */
function countLinks({ relation, plan, through }: ScopedLink, ofParent: Clause, { api, engine }: Call) {
  const { junction, foreignColumns, target } = relation
  const targetFields = junctionFields(relation, junction.targetKey.columns)
  const key = shape`count links ${relation}${shapeOf([ofParent, ...through.scope])}${shapeOf(plan.scope)}`
  const made = statement(api.statements, engine, key, valuesOf([ofParent, ...through.scope, ...plan.scope]), () => ({
    sql: sql`select count(*) from ${junction.resource.table} where ${joinAnd([ofParent, ...through.scope])} and exists (select 1 from ${target.table} where ${joinCondition(targetFields, foreignColumns)}${plan.scope.length > 0 ? sql` and ${joinAnd(plan.scope)}` : sql``})`,
    extra: undefined,
  }))
  return { ...made, returnsRows: true }
}
