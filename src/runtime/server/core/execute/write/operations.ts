/** The statements of each kind of write, in the order in which they must run. The row scope stands in the WHERE of every one that names a row. */
import { groupBy } from '../../../../shared/group-by'
import type { Call } from '../../context'
import { keyFields, withKey, type Selection } from '../../access/fields'
import { toId } from '../../../schema/record-id'
import { findReach, type Reach } from '../cascade/dependents'
import { keyClauses } from '../../plan/read'
import type { WriteKind, WritePlan } from '../../plan/write'
import { among, together, type Clause } from '../../sql/clause'
import type { Scoped } from '../../access/row-scope'
import { clearStatement, leftOverStatement, pickTrash, releaseStatement, removeStatement, restrictStatement, stampStatement } from '../cascade/statements'
import type { Closure, Following } from '../cascade/closure'
import { needsMarks, removeCircle, ungroupStatement } from '../cascade/cycle'
import { takeAlong } from '../cascade/cascaded-rows'
import { changeOf } from '../commit/changes'
import type { Step } from '../commit/commit'
import type { Item } from './items'
import { keysClause, pins, unchanged } from './targets'
import type { RecordOf } from '../rows/rows'
import { cascadeStamps, forCreate, forTrash, forUpdate, untouchable } from './server-values'
import { deleteStatement, insertStatements, selectStatement, updateStatement, type Returning } from '../commit/statements'

/** What a write did to one item. */
export interface Written {
  /** The record as written, its key included; absent for rows that are gone. */
  record?: RecordOf
  deletionId?: string
}

type Steps = (plan: Scoped<WritePlan>, items: readonly Item[], written: Map<number, Written>, call: Call, time: Date) => Step[]

export const STEPS: Readonly<Record<WriteKind, Steps>> = { create, update, delete: remove, restore, purge }

function create(plan: Scoped<WritePlan>, items: readonly Item[], written: Map<number, Written>, call: Call, time: Date): Step[] {
  const { resource } = plan
  const rows = items.map(item => ({ item, values: forCreate(plan, writable(plan, item), call, time) }))
  // Rows that set the same columns go into one statement.
  const groups = groupBy(rows, ({ values }) => Object.keys(values).filter(name => resource.fields.has(name)).sort().join(','))
  const inserts = [...groups.values()].flatMap((group) => {
    const itemOf = new Map(group.map(({ item, values }) => [values, item]))
    return insertStatements(call, resource, group.map(({ values }) => values), answered(plan)).map(({ statement, rows: own }): Step => ({
      statement,
      ...own.length === 1 && { item: itemOf.get(own[0]!)!.index },
      read: ({ rows }) => own.forEach((values, index) => written.set(itemOf.get(values)!.index, { record: statement.extra(rows[index]!) })),
      changes: () => own.map(values => recordChange(plan, written.get(itemOf.get(values)!.index)!.record!, call)),
    }))
  })
  return [...referenceSteps(items, call), ...inserts]
}

function update(plan: Scoped<WritePlan>, items: readonly Item[], written: Map<number, Written>, call: Call, time: Date): Step[] {
  const updates = items.map((item): Step => {
    const values = writable(plan, item)
    const where = rowClauses(plan, item)
    if (Object.keys(values).length === 0) return returning(selectStatement(call, plan.resource, where, answered(plan)), item, written)
    return { ...returning(updateStatement(call, plan.resource, forUpdate(plan, values, call, time), where, answered(plan), keyClauses(plan.resource, item.key!)), item, written), changes: () => [changeOf(call, plan.resource, 'update', item.key!)] }
  })
  return [...referenceSteps(items, call), ...lockSeveral(plan, items, call), ...updates]
}

function remove(plan: Scoped<WritePlan>, items: readonly Item[], written: Map<number, Written>, call: Call, time: Date): Step[] {
  const { resource } = plan
  const { roles } = resource
  if (!roles.deletedAt) {
    for (const item of items) written.set(item.index, {})
    return deleteRows(plan, items, call)
  }
  const stamps = items.map((item): Step => {
    const deletionId = crypto.randomUUID()
    written.set(item.index, roles.deletionId ? { deletionId } : {})
    return { statement: updateStatement(call, resource, forTrash(plan, deletionId, call, time), rowClauses(plan, item), keyFields(resource)), guard: 'row', item: item.index, changes: () => [changeOf(call, resource, 'delete', item.key!)] }
  })
  return [...lockSeveral(plan, items, call), ...stamps, ...trashBelow(plan, items, call, time)]
}

/** What hangs on rows that have been stamped goes to the trash with them. */
export function trashBelow(plan: Scoped<WritePlan>, items: readonly Item[], call: Call, time: Date): Step[] {
  if (plan.resource.auth?.softDelete?.cascade === 'off') return []
  const closure = closureOf(plan, items, call, 'active')
  const below = cascaded(closure, node => node.roles.deletedAt !== undefined).reverse()
  return [
    ...takeAlong(call, closure, below, { kind: 'delete', trash: 'active', named: keysOf(items) }),
    ...restrictions(closure, call),
    ...below.map(node => ({ statement: stampStatement(call, closure, node, cascadeStamps(plan, node, call, time)) })),
    ...leftOver(closure, call),
  ]
}

/**
 * A row that was hung below one of these while its table was being stamped: all of it is done again. Tables outside of
 * a circle need no such look: their rows are stamped after, and found by, the rows they hang on.
 */
function leftOver(closure: Closure, call: Call): Step[] {
  if (!call.engine.concurrent) return []
  const { reach } = closure
  const place = (table: unknown) => reach.nodes.findIndex(node => node.table === table)
  return reach.edges.filter(edge => place(edge.table) <= place(edge.foreignTable) && call.api.graph.get(edge.table)!.roles.deletedAt)
    .map(edge => ({ statement: leftOverStatement(call, closure, edge, call.api.graph.get(edge.table)!, call.api.graph.get(edge.foreignTable)!) }))
}

/** Where others may come between, the rows that are named are the first to be locked: whoever has them goes on alone. */
function lockRows(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): Step[] {
  if (!call.engine.concurrent) return []
  const { resource, scope } = plan
  return [{ statement: { ...selectStatement(call, resource, [keysClause(plan, items, call), ...scope], keyFields(resource), 'update'), expect: undefined }, early: true }]
}

/** One row is locked by what writes it; several in one order for all, whatever order they are named in. */
const lockSeveral = (plan: Scoped<WritePlan>, items: readonly Item[], call: Call) => items.length > 1 ? lockRows(plan, items, call) : []

/** What the items point at must still be there, and visible, when they are written. One statement for each foreign key. */
export function referenceSteps(items: readonly Item[], call: Call): Step[] {
  const asked = groupBy(items.flatMap(item => (item.references ?? []).map(reference => ({ item, reference }))), ({ reference }) => reference.target)
  return [...asked].map(([{ plan, fields, judged }, list]): Step => {
    const tuples = [...new Map(list.map(({ reference: { values } }) => [values.map(String).join('\0'), values])).values()]
    const statement = selectStatement(call, plan.resource, [among(call.engine, fields, tuples), ...judged ? [unchanged(judged.columns, judged.rows)] : [], ...plan.scope], keyFields(plan.resource), 'share')
    return { statement: { ...statement, expect: tuples.length }, guard: 'reference', field: list[0]!.reference.name, ...list.length === 1 && { item: list[0]!.item.index } }
  })
}

function restore(plan: Scoped<WritePlan>, items: readonly Item[], written: Map<number, Written>, call: Call): Step[] {
  const { resource } = plan
  const closure = closureOf(plan, items, call, 'grouped')
  const { root, circular } = closure.reach
  const empty = Object.fromEntries(Object.keys(pickTrash(root)).map(role => [resource.roles[role as keyof typeof resource.roles]!.name, null]))
  const along = cascaded(closure, node => node.roles.deletedAt !== undefined && !plan.apart?.has(node.table))
  const but = (node: Reach['root']) => node === root ? keysClause(plan, items, call) : undefined
  return [
    ...lockRows(plan, items, call),
    ...takeAlong(call, closure, along, { kind: 'restore', trash: 'trashed', named: keysOf(items), but }),
    // Children first: what brings them back reads the group off the rows above them; in a circle there is no above, and all keep it to the end.
    ...along.map(node => ({ statement: clearStatement(call, closure, node, but(node)) })),
    ...circular ? along.filter(node => node.roles.deletionId && root.roles.deletionId).map(node => ({ statement: ungroupStatement(call, closure, node) })) : [],
    ...items.map(item => ({ ...returning(updateStatement(call, resource, empty, rowClauses(plan, item), answered(plan), keyClauses(resource, item.key!)), item, written), changes: () => [changeOf(call, resource, 'restore', item.key!)] })),
  ]
}

function purge(plan: Scoped<WritePlan>, items: readonly Item[], written: Map<number, Written>, call: Call): Step[] {
  const { reach } = closureOf(plan, items, call, 'all')
  // Rows that hang on one another go in one statement with what hangs on them, the scope in its WHERE.
  const own = hangsOnItself(reach)
  const start = own ? together([keysClause(plan, items, call), ...plan.scope]) : keysClause(plan, items, call)
  const closure: Closure = { reach, start, following: 'all', maxTerms: call.engine.limits?.terms }
  const below = cascaded(closure, () => true)
  for (const item of items) written.set(item.index, {})
  return [
    ...own ? stillThere(plan, items, call) : lockRows(plan, items, call),
    ...takeAlong(call, closure, below, { kind: 'purge', trash: 'all', named: keysOf(items) }),
    ...restrictions(closure, call),
    ...reach.release.map(edge => ({ statement: releaseStatement(call, closure, edge, call.api.graph.get(edge.table)!, call.api.graph.get(edge.foreignTable)!) })),
    ...(needsMarks(reach, call) ? removeCircle(call, closure, below) : below.map(node => removeStatement(call, closure, node))).map(statement => ({ statement })),
    ...own ? [{ ...allGone(plan, items, call), changes: () => goneChanges(plan, items, call) }] : deleteRows(plan, items, call),
  ]
}

/** All rows in one statement, for one of them may refer to another; those that code judged are looked at once more first. */
function deleteRows(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): Step[] {
  const { resource, scope } = plan
  if (items.length === 1) return [{ statement: deleteStatement(call, resource, rowClauses(plan, items[0]!)), guard: 'row', item: items[0]!.index, changes: () => goneChanges(plan, items, call) }]
  const statement = deleteStatement(call, resource, [keysClause(plan, items, call), ...scope])
  // A row that the database takes along with another one is not counted.
  if (hangsOnItself(findReach(call.api.graph, resource.table))) return [...stillThere(plan, items, call), { statement: { text: statement.text, values: statement.values }, changes: () => goneChanges(plan, items, call) }, allGone(plan, items, call)]
  return [...plan.accepts ? stillThere(plan, items, call) : [], { statement: { ...statement, expect: items.length, whole: false }, guard: 'row', changes: () => goneChanges(plan, items, call) }]
}

/** Every row is visible still, and still what it was when code judged it. */
function stillThere(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): Step[] {
  if (plan.accepts) return items.map((item): Step => ({ statement: selectStatement(call, plan.resource, rowClauses(plan, item), keyFields(plan.resource), 'update'), guard: 'row', item: item.index, early: true }))
  return [{ statement: { ...selectStatement(call, plan.resource, [keysClause(plan, items, call), ...plan.scope], keyFields(plan.resource), 'update'), expect: items.length }, guard: 'row', early: true }]
}

function allGone(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): Step {
  return { statement: { ...selectStatement(call, plan.resource, [keysClause(plan, items, call)], keyFields(plan.resource)), expect: 0 }, guard: 'row' }
}

const keysOf = (items: readonly Item[]) => items.map(({ key }) => key!)

const goneChanges = ({ resource, kind }: WritePlan, items: readonly Item[], call: Call) => items.map(({ key }) => changeOf(call, resource, kind as 'delete' | 'purge', key!))

const recordChange = ({ resource }: WritePlan, record: RecordOf, call: Call) => changeOf(call, resource, 'create', resource.primaryKey.map(field => record[field.name]))

const hangsOnItself = ({ root, edges }: Reach) => edges.some(edge => edge.table === root.table)

function closureOf(plan: Scoped<WritePlan>, items: readonly Item[], call: Call, following: Following): Closure {
  return { reach: findReach(call.api.graph, plan.resource.table), start: keysClause(plan, items, call), following, maxTerms: call.engine.limits?.terms, ...following === 'active' && items.length > 1 && { several: true } }
}

/** The tables below the root, those furthest from it first; the root's own where it hangs on itself. */
function cascaded({ reach }: Closure, wanted: (node: Reach['root']) => boolean): Reach['root'][] {
  return reach.nodes.filter(node => wanted(node) && reach.edges.some(edge => edge.table === node.table)).reverse()
}

function restrictions(closure: Closure, call: Call): Step[] {
  return closure.reach.restrict.map(edge => ({
    statement: restrictStatement(call, closure, edge, call.api.graph.get(edge.table)!, call.api.graph.get(edge.foreignTable)!),
    guard: 'restrict' as const,
  }))
}

/** This row, if it is still visible, and still what it was when it was judged. */
function rowClauses(plan: Scoped<WritePlan>, item: Item): readonly Clause[] {
  return [...keyClauses(plan.resource, item.key!), ...plan.scope, ...pins(plan, item)]
}

function returning(statement: Returning, item: Item, written: Map<number, Written>): Step {
  return { statement, guard: 'row', item: item.index, read: ({ rows }) => written.set(item.index, { record: statement.extra(rows[0]!) }) }
}

/** What is read back: what the caller may read and the address. */
function answered({ resource, selection }: WritePlan): Selection {
  return withKey(resource, selection)
}

/** The columns a write may set; keys that are no column were for the hooks. */
export function writable(plan: WritePlan, { values }: Item): Record<string, unknown> {
  const never = untouchable(plan)
  const result: Record<string, unknown> = {}
  for (const name of Object.keys(values)) {
    if (values[name] !== undefined && plan.resource.fields.has(name) && !never.has(name)) result[name] = values[name]
  }
  return result
}

export function idOf({ resource }: WritePlan, record: RecordOf): string {
  return toId(resource, resource.primaryKey.map(field => record[field.name]))
}
