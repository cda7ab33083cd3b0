/** The statements that change one relation's links: what goes, what comes, what comes back from the trash, how many there are then. */
import { sql } from 'drizzle-orm'
import { shape } from '../../engines/shape'
import type { Field } from '../../schema/field'
import type { ManyToMany, Resource } from '../../schema/model'
import type { Call } from '../context'
import { allFields, keyFields, select } from '../fields'
import type { LinkPlan, LinkTarget } from '../plan/relation'
import type { ReadPlan } from '../plan/tree'
import type { WritePlan } from '../plan/write'
import { all, among, fromClauses, isNull, shapeOf, statement, valuesOf, type Clause } from '../query'
import { applyScope, narrow, within, type Plan, type Scoped } from '../scope'
import { changeOf, isHeard } from './changes'
import type { Step } from './commit'
import type { Item } from './items'
import { judgedLinks, junctionFields, linkedTo, meets, parentValues } from './links'
import { checkReferences } from './references'
import { readRows, valuesAt, type RecordOf } from './rows'
import { forCreate, forTrash } from './stamps'
import { deleteStatement, insertStatements, selectStatement, updateStatement } from './statements'

export type ScopedLink = Omit<LinkTarget, 'plan' | 'through'> & { readonly plan: Scoped<ReadPlan>, readonly through: Scoped<Plan> }

/** Whether links or linked records are judged by code, so that SQL alone cannot tell the visible ones. */
export const judges = ({ plan, through }: ScopedLink) => plan.accepts !== undefined || through.accepts !== undefined

export type Counts = { added: number, removed: number, total: number }

export async function linkSteps(plan: Scoped<LinkPlan>, link: ScopedLink, targets: readonly (readonly unknown[])[], counts: Counts, call: Call): Promise<Step[]> {
  const { relation, through } = link
  const { resource } = relation.junction
  const parent = await parentValues(plan, plan.key, relation.columns, call)
  const here = among(call.engine, junctionFields(relation, relation.junction.here.columns), [parent])
  const there = junctionFields(relation, relation.junction.there.columns)
  const steps: Step[] = []
  const count = (name: 'added' | 'removed') => ({ touched }: { touched: number }) => {
    counts[name] += touched
  }
  if (plan.mode !== 'add') {
    const gone = await removedClauses(plan, link, here, targets, call)
    const where = [here, ...gone, ...through.scope]
    const junctionWrite = { resource } as WritePlan
    const going = { ...selectStatement(call, resource, where, keyFields(resource)), expect: undefined }
    if (isHeard(call)) steps.push({ statement: going, changes: ({ rows }) => linkChanges(rows.map(going.extra), 'unlink', resource, call) })
    steps.push({
      statement: resource.roles.deletedAt
        ? { ...updateStatement(call, resource, forTrash(junctionWrite, crypto.randomUUID(), call, new Date()), where, keyFields(resource)), expect: undefined }
        : { ...deleteStatement(call, resource, where), expect: undefined },
      read: count('removed'),
    })
  }
  if (plan.mode !== 'remove' && targets.length > 0) {
    const rows = targets.map(target => toRow(link, parent, target, call))
    await assertReferences(link, rows, call)
    const own = [here, among(call.engine, there, targets)]
    const back = resource.roles.deletedAt && await revivable(link, own, call)
    if (back) {
      // Read before: not every engine says which rows it brought back.
      const coming = { ...selectStatement(call, resource, back, keyFields(resource), 'update'), expect: undefined }
      if (isHeard(call)) steps.push({ statement: coming, changes: ({ rows }) => linkChanges(rows.map(coming.extra), 'link', resource, call) })
      steps.push({ statement: reviveStatement(link, back, call), read: count('added') })
    }
    const known = linkKey(relation)
    const fresh = known.length > 0 ? rows : await unlinked(link, rows, [[...own, ...active(resource)], ...back ? [back] : []], call)
    for (const { statement } of insertStatements(call, resource, fresh, keyFields(resource), known)) {
      steps.push({ statement: { ...statement, expect: undefined }, read: count('added'), changes: ({ rows }) => linkChanges(rows.map(statement.extra), 'link', resource, call) })
    }
  }
  if (!judges(link)) {
    steps.push({ statement: countLinks(link, here, call), read: ({ rows }) => {
      counts.total = Number(rows[0]![0])
    } })
  }
  return steps
}

const linkChanges = (records: readonly RecordOf[], kind: 'link' | 'unlink', resource: Resource, call: Call) =>
  records.map(record => changeOf(call, resource, kind, resource.primaryKey.map(field => record[field.name])))

/** The records to link must still be there, and visible, when the link is made. */
export function targetSteps(mode: LinkPlan['mode'], { relation, plan }: ScopedLink, targets: readonly (readonly unknown[])[], call: Call): Step[] {
  if (mode === 'remove' || targets.length === 0) return []
  const made = selectStatement(call, relation.target, [among(call.engine, relation.foreignColumns, targets), ...plan.scope], keyFields(relation.target), 'share')
  return [{ statement: { ...made, expect: targets.length }, guard: 'row' }]
}

/** Where the metadata holds a foreign key, it points at a record the caller can see. @throws `INVALID_REFERENCE` */
async function assertReferences({ relation: { junction: { resource } }, through, metadata }: ScopedLink, rows: readonly Record<string, unknown>[], call: Call): Promise<void> {
  const plan = within<Plan, WritePlan>(through, { kind: 'create', items: [], bulk: false, atomic: true, selection: keyFields(resource) })
  const items = rows.map((values, index): Item => ({ index, sent: Object.keys(metadata), values, asked: values, ctx: call.ctx }))
  await checkReferences(plan, items, call, 'now')
  const failed = items.find(item => item.error !== undefined)
  if (failed) throw failed.error
}

const active = ({ roles }: Resource): readonly Clause[] => roles.deletedAt ? [isNull(roles.deletedAt)] : []

/** The columns by which the database itself knows a link: both keys, where a constraint says so. A value that others have alone is no link. */
function linkKey({ junction: { resource, here, there } }: ManyToMany): readonly Field[] {
  const both = [...new Set([...here.columns, ...there.columns])]
  const { primaryKey, uniques } = resource.facts
  const declared = [primaryKey, ...uniques].some(columns => columns.length === both.length && both.every(name => columns.includes(name)))
  return declared ? both.map(name => resource.fields.get(name)!) : []
}

/** Where no constraint keeps two records from being linked twice: the rows without those that are there, or come back. */
async function unlinked({ relation }: ScopedLink, rows: readonly Record<string, unknown>[], linked: readonly (readonly Clause[])[], call: Call): Promise<readonly Record<string, unknown>[]> {
  const { resource, there } = relation.junction
  const selection = select(resource, field => there.columns.includes(field.name))
  const fields = junctionFields(relation, there.columns)
  const found = await Promise.all(linked.map(where => call.engine.query(selectStatement(call, resource, where, selection))))
  const known = new Set(found.flat().map(row => valuesAt(selection, fields)(row).map(String).join('\0')))
  return rows.filter(row => !known.has(fields.map(field => String(field.encode(row[field.name]))).join('\0')))
}

/** Links that lie in the junction's trash, and that the caller could see outside of it: they come back instead of being made twice. */
async function revivable({ relation }: ScopedLink, own: readonly Clause[], call: Call): Promise<readonly Clause[]> {
  const { resource, there } = relation.junction
  const trashed = await applyScope<Plan>(call, { resource, trash: 'trashed' }, 'read')
  const found = [...own, ...trashed.scope]
  const fields = junctionFields(relation, there.columns)
  return trashed.accepts ? [...found, among(call.engine, fields, (await judgedLinks(relation, found, trashed, call)).map(valuesAt(allFields(resource), fields)))] : found
}

/** Back from the trash a link says what it is added with. */
function reviveStatement({ relation: { junction: { resource } }, metadata }: ScopedLink, where: readonly Clause[], call: Call) {
  const { deletedAt, deletedBy, deletionId, deletedReason } = resource.roles
  const empty = Object.fromEntries([deletedAt, deletedBy, deletionId, deletedReason].flatMap(field => field ? [[field.name, null]] : []))
  return { ...updateStatement(call, resource, { ...metadata, ...empty }, where, keyFields(resource)), expect: undefined }
}

/** Which links go: those named, or those to visible records that are not named. Links the caller cannot see stay. */
async function removedClauses(plan: Scoped<LinkPlan>, link: ScopedLink, here: Clause, targets: readonly (readonly unknown[])[], call: Call): Promise<readonly Clause[]> {
  const { relation } = link
  const there = junctionFields(relation, relation.junction.there.columns)
  if (judges(link)) {
    const named = new Set(targets.map(values => values.map(String).join('\0')))
    const gone = (await visibleLinks(plan, link, call)).filter(values => named.has(values.map(String).join('\0')) === (plan.mode === 'remove'))
    const clause = among(call.engine, there, gone)
    return link.through.accepts ? [await judgedClause(link, [here, clause, ...link.through.scope], call)] : [clause]
  }
  if (plan.mode === 'remove') return [among(call.engine, there, targets)]
  const visible = fromClauses(shape`to visible ${relation}`, link.plan.scope, () => sql`exists (select 1 from ${relation.target.table} where ${meets(there, relation.foreignColumns)} and ${all(link.plan.scope)})`)
  const others = among(call.engine, there, targets)
  return targets.length === 0 ? [visible] : [fromClauses(shape`others`, [others], () => sql`not (${others.build()})`), visible]
}

/** Of these links the visible ones, by their own keys: two records may be linked more than once. */
async function judgedClause({ relation, through }: ScopedLink, where: readonly Clause[], call: Call): Promise<Clause> {
  const { primaryKey } = relation.junction.resource
  const rows = await judgedLinks(relation, where, through, call)
  return among(call.engine, primaryKey, rows.map(valuesAt(allFields(relation.junction.resource), primaryKey)))
}

/** The visible links of the record, by the values the junction holds of the other side. */
export async function visibleLinks(plan: Scoped<LinkPlan>, link: ScopedLink, call: Call): Promise<readonly (readonly unknown[])[]> {
  const { relation, through } = link
  const parent = await parentValues(plan, plan.key, relation.columns, call)
  const linked = await linkedTo(relation, parent, through, call)
  const { columns, rows } = await readRows(narrow(link.plan, [linked]), { cursor: true }, call)
  return rows.map(valuesAt(columns, relation.foreignColumns))
}

function toRow({ relation, metadata, tenantId }: ScopedLink, parent: readonly unknown[], target: readonly unknown[], call: Call): Record<string, unknown> {
  const { resource, here, there } = relation.junction
  const decoded = (names: readonly string[], values: readonly unknown[]) => names.map((name, index): [string, unknown] => {
    const field = resource.fields.get(name)!
    return [name, field.decode ? field.decode(values[index]) : values[index]]
  })
  const keys = Object.fromEntries([...decoded(here.columns, parent), ...decoded(there.columns, target)])
  return forCreate({ resource, tenantId } as WritePlan, { ...metadata, ...keys }, call, new Date())
}

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
