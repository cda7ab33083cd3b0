/** The statements that change one relation's links: what goes, what comes, what comes back from the trash, how many there are then. */
import { sql } from 'drizzle-orm'
import { shape } from '../../sql/shape'
import type { Call } from '../../context'
import { keyFields } from '../../access/fields'
import type { WritePlan } from '../../plan/write'
import { all, among, shapeOf, statement, valuesOf, type Clause } from '../../sql/clause'
import { narrow } from '../../access/row-scope'
import { isHeard } from '../commit/changes'
import type { Step } from '../commit/commit'
import { addedSteps, createSteps, readCreates, type Creates } from './create-links'
import { deleteSteps, noOthers, readDeletes, type Deletes } from './delete-links'
import { linkChanges, linkedTo, not, toText, toVisible, type LinkWork, type ScopedLink } from './links'
import { junctionFields, meets } from '../rows/junction'
import { stillJudged } from '../write/targets'
import { readRows, valuesAt, type Rows } from '../rows/rows'
import { forTrash } from '../write/server-values'
import { deleteStatement, selectStatement, updateStatement } from '../commit/statements'

/** Whether links or linked records are judged by code, so that SQL alone cannot tell the visible ones. */
export const judges = ({ plan, through }: ScopedLink) => plan.accepts !== undefined || through.accepts !== undefined

/** What becomes of a relation's links, as far as it is known before the commit. */
export interface LinkChange {
  readonly work: LinkWork
  readonly creates?: Creates
  readonly deletes?: Deletes
  /** Of a replacement: the linked records that code accepted, and all links there were. */
  readonly judged?: { readonly found: Rows, readonly known: readonly (readonly unknown[])[] }
}

/** @throws 403 and 400 where the junction refuses a link. */
export async function readChange(work: LinkWork, call: Call): Promise<LinkChange> {
  const { link, mode, here, targets } = work
  const { resource } = link.relation.junction
  const keys = keyFields(resource)
  const seen = selectStatement(call, resource, [here, ...link.through.scope], keys)
  const judged = mode === 'replace' && link.plan.accepts
    ? { found: await readVisible(work, call), known: (await call.engine.query(seen)).map(valuesAt(keys, resource.primaryKey)) }
    : undefined
  const visible = async () => valuesOfLinked(link, judged?.found ?? await readVisible(work, call))
  const deletes = await readDeletes(work, visible, call)
  const creates = mode === 'remove' || targets.values.length === 0 ? undefined : await readCreates(work, call)
  return { work, ...creates && { creates }, ...deletes && { deletes }, ...judged && { judged } }
}

export async function linkSteps({ work, creates, deletes, judged }: LinkChange, call: Call): Promise<Step[]> {
  const { link, mode, here, counts } = work
  const added: Step[] = creates ? [...createSteps(work, creates, call), ...await addedSteps(work, creates, call)] : []
  const removed = deletes ? deleteSteps(work, deletes, call) : mode === 'add' ? [] : removeSteps(work, judged, call)
  const total: Step[] = judges(link)
    ? []
    : [{ statement: countLinks(link, here, call), read: ({ rows }) => {
        counts.total = Number(rows[0]![0])
      } }]
  return [...judged ? stillSeen(work, judged.found, call) : [], ...removed, ...added, ...total]
}

/** The records whose links a replacement removes because code accepted them. */
function stillSeen({ link: { relation, plan }, targets }: LinkWork, { columns, rows }: Rows, call: Call): Step[] {
  const named = new Set(targets.values.map(toText))
  const targetOf = valuesAt(columns, relation.foreignColumns)
  return stillJudged(plan, columns, rows.filter(row => !named.has(toText(targetOf(row)))), 'share', call)
}

/** Links that one statement can tell: those named, or those to visible records that are not named. Links the caller cannot see stay. */
function removeSteps({ link, mode, here, targets, counts }: LinkWork, judged: LinkChange['judged'], call: Call): Step[] {
  const { relation, through } = link
  const { resource, there: { columns } } = relation.junction
  const there = junctionFields(relation, columns)
  const named = among(call.engine, there, targets.values)
  const others = targets.values.length > 0 ? [not(named)] : []
  const visible = () => judged ? among(call.engine, there, valuesOfLinked(link, judged.found)) : toVisible(link)
  const where = [here, ...mode === 'remove' ? [named] : [...others, visible()], ...through.scope]
  const going = { ...selectStatement(call, resource, where, keyFields(resource)), expect: undefined }
  const heard: Step = { statement: going, changes: ({ rows }) => linkChanges(rows.map(going.extra), 'unlink', resource, call) }
  const trash = () => forTrash({ resource } as WritePlan, crypto.randomUUID(), call, new Date())
  return [
    ...judged ? [noOthers(resource, [here, ...through.scope], judged.known, call)] : [],
    ...isHeard(call) ? [heard] : [],
    {
      statement: resource.roles.deletedAt
        ? { ...updateStatement(call, resource, trash(), where, keyFields(resource)), expect: undefined }
        : { ...deleteStatement(call, resource, where), expect: undefined },
      read: ({ touched }) => {
        counts.removed += touched
      },
    },
  ]
}

/** The records the caller sees the record linked with. */
async function readVisible({ link, parent }: Pick<LinkWork, 'link' | 'parent'>, call: Call): Promise<Rows> {
  return readRows(narrow(link.plan, [await linkedTo(link.relation, parent, link.through, call)]), { cursor: true }, call)
}

/** What the junction holds of them. */
const valuesOfLinked = ({ relation }: ScopedLink, { columns, rows }: Rows) => rows.map(valuesAt(columns, relation.foreignColumns))

/** How many links the caller sees, where code judges them. */
export const countVisible = async (work: LinkWork, call: Call) => (await readVisible(work, call)).rows.length

/** `select count(*) from junction where post_id = ? and exists (select 1 from tags where …)` */
function countLinks({ relation, plan, through }: ScopedLink, here: Clause, { api, engine }: Call) {
  const { junction, foreignColumns, target } = relation
  const there = junctionFields(relation, junction.there.columns)
  const key = shape`count links ${relation}${shapeOf([here, ...through.scope])}${shapeOf(plan.scope)}`
  const made = statement(api.statements, engine, key, valuesOf([here, ...through.scope, ...plan.scope]), () => ({
    sql: sql`select count(*) from ${junction.resource.table} where ${all([here, ...through.scope])} and exists (select 1 from ${target.table} where ${meets(there, foreignColumns)}${plan.scope.length > 0 ? sql` and ${all(plan.scope)}` : sql``})`,
    extra: undefined,
  }))
  return { ...made, returns: true }
}
