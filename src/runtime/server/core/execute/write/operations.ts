/** The statements of each kind of write, in the order in which they must run. The row scope stands in the WHERE of every one that names a row. */
import { groupBy } from '../../../../shared/group-by'
import type { Call } from '../../context'
import { keyFields, withKey, type Selection } from '../../access/fields'
import { toId } from '../../../schema/record-id'
import { findDependents, type Dependents } from '../cascade/dependents'
import { keyClauses } from '../../plan/read'
import type { WriteKind, WritePlan } from '../../plan/write'
import { inTuples, and, type Clause } from '../../sql/clause'
import { tupleKey } from '../../sql/tuple-key'
import type { Scoped } from '../../access/row-scope'
import {
  restoreStatement,
  missedRowsStatement,
  trashColumns,
  releaseStatement,
  removeStatement,
  restrictStatement,
  trashStatement,
} from '../cascade/statements'
import type { Closure, Following } from '../cascade/closure'
import { needsMarking, removeCycle, ungroupStatement } from '../cascade/cycle'
import { cascadeOperations } from '../cascade/cascaded-rows'
import { changeOf } from '../commit/changes'
import type { WriteOperation } from '../commit/commit'
import type { Item } from './items'
import { keysClause, unchangedSince, rowsUnchanged } from './targets'
import type { RecordValues } from '../rows/decode'
import { cascadeTrashValues, createValues, trashValues, updateValues, unwritableNames } from './server-values'
import { deleteStatement, insertStatements, selectStatement, updateStatement, type Returning } from '../commit/statements'

/** What a write did to one item. */
export interface WrittenItem {
  /** The record as written, its key included; absent for rows that are gone. */
  record?: RecordValues
  deletionId?: string
}

type CreateOperations = (
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  written: Map<number, WrittenItem>,
  call: Call,
  time: Date,
) => WriteOperation[]

export const OPERATIONS: Readonly<Record<WriteKind, CreateOperations>> = { create, update, delete: remove, restore, purge }

function create(
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  written: Map<number, WrittenItem>,
  call: Call,
  time: Date,
): WriteOperation[] {
  const { resource } = plan
  const rows = items.map(item => ({ item, values: createValues(plan, writableValues(plan, item), call, time) }))
  // Rows that set the same columns go into one statement.
  const groups = groupBy(rows, ({ values }) =>
    Object.keys(values)
      .filter(name => resource.fields.has(name))
      .sort()
      .join(','),
  )
  const inserts = [...groups.values()].flatMap((group) => {
    const itemOf = new Map(group.map(({ item, values }) => [values, item]))
    return insertStatements(
      call,
      resource,
      group.map(({ values }) => values),
      returnedFields(plan),
    ).map(({ statement, rows: own }): WriteOperation => ({
      statement,
      ...(own.length === 1 && { item: itemOf.get(own[0]!)!.index }),
      read: ({ rows }) => own.forEach((values, index) => written.set(itemOf.get(values)!.index, { record: statement.extra(rows[index]!) })),
      changes: () => own.map(values => recordChange(plan, written.get(itemOf.get(values)!.index)!.record!, call)),
    }))
  })
  return [...referenceOperations(items, call), ...inserts]
}

function update(
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  written: Map<number, WrittenItem>,
  call: Call,
  time: Date,
): WriteOperation[] {
  const updates = items.map((item): WriteOperation => {
    const values = writableValues(plan, item)
    const where = rowClauses(plan, item)
    if (Object.keys(values).length === 0) return returning(selectStatement(call, plan.resource, where, returnedFields(plan)), item, written)
    return {
      ...returning(
        updateStatement(
          call,
          plan.resource,
          updateValues(plan, values, call, time),
          where,
          returnedFields(plan),
          keyClauses(plan.resource, item.key!),
        ),
        item,
        written,
      ),
      changes: () => [changeOf(call, plan.resource, 'update', item.key!)],
    }
  })
  return [...referenceOperations(items, call), ...lockMany(plan, items, call), ...updates]
}

function remove(
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  written: Map<number, WrittenItem>,
  call: Call,
  time: Date,
): WriteOperation[] {
  const { resource } = plan
  const { roles } = resource
  if (!roles.deletedAt) {
    for (const item of items) written.set(item.index, {})
    return deleteRows(plan, items, call)
  }
  const stamps = items.map((item): WriteOperation => {
    const deletionId = crypto.randomUUID()
    written.set(item.index, roles.deletionId ? { deletionId } : {})
    return {
      statement: updateStatement(call, resource, trashValues(plan, deletionId, call, time), rowClauses(plan, item), keyFields(resource)),
      expectation: 'row',
      item: item.index,
      changes: () => [changeOf(call, resource, 'delete', item.key!)],
    }
  })
  return [...lockMany(plan, items, call), ...stamps, ...trashDependents(plan, items, call, time)]
}

/** What hangs on rows that have been stamped goes to the trash with them. */
export function trashDependents(plan: Scoped<WritePlan>, items: readonly Item[], call: Call, time: Date): WriteOperation[] {
  if (plan.resource.auth?.softDelete?.cascade === 'off') return []
  const closure = closureOf(plan, items, call, 'active')
  const below = dependentTables(closure, node => node.roles.deletedAt !== undefined).reverse()
  return [
    ...cascadeOperations(call, closure, below, { kind: 'delete', trash: 'active', named: keysOf(items) }),
    ...restrictOperations(closure, call),
    ...below.map(node => ({ statement: trashStatement(call, closure, node, cascadeTrashValues(plan, node, call, time)) })),
    ...checkMissedRows(closure, call),
  ]
}

/**
 * A row that was hung below one of these while its table was being stamped: all of it is done again. Tables outside of
 * a circle need no such look: their rows are stamped after, and found by, the rows they hang on.
 */
function checkMissedRows(closure: Closure, call: Call): WriteOperation[] {
  if (!call.engine.concurrent) return []
  const { dependents } = closure
  const place = (table: unknown) => dependents.nodes.findIndex(node => node.table === table)
  return dependents.edges
    .filter(edge => place(edge.table) <= place(edge.foreignTable) && call.api.graph.get(edge.table)!.roles.deletedAt)
    .map(edge => ({
      statement: missedRowsStatement(call, closure, edge, call.api.graph.get(edge.table)!, call.api.graph.get(edge.foreignTable)!),
    }))
}

/** Where others may come between, the rows that are named are the first to be locked: whoever has them goes on alone. */
function lockRows(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): WriteOperation[] {
  if (!call.engine.concurrent) return []
  const { resource, scope } = plan
  return [
    {
      statement: {
        ...selectStatement(call, resource, [keysClause(plan, items, call), ...scope], keyFields(resource), 'update'),
        expect: undefined,
      },
      phase: 'lock',
    },
  ]
}

/** One row is locked by what writes it; several in one order for all, whatever order they are named in. */
const lockMany = (plan: Scoped<WritePlan>, items: readonly Item[], call: Call) => items.length > 1 ? lockRows(plan, items, call) : []

/** What the items point at must still be there, and visible, when they are written. One statement for each foreign key. */
export function referenceOperations(items: readonly Item[], call: Call): WriteOperation[] {
  const asked = groupBy(
    items.flatMap(item => (item.references ?? []).map(reference => ({ item, reference }))),
    ({ reference }) => reference.target,
  )
  return [...asked].map(([{ plan, fields, judged }, list]): WriteOperation => {
    const tuples = [...new Map(list.map(({ reference: { values } }) => [tupleKey(values), values])).values()]
    const statement = selectStatement(
      call,
      plan.resource,
      [inTuples(call.engine, fields, tuples), ...(judged ? [rowsUnchanged(judged.columns, judged.rows)] : []), ...plan.scope],
      keyFields(plan.resource),
      'share',
    )
    return {
      statement: { ...statement, expect: tuples.length },
      expectation: 'reference',
      field: list[0]!.reference.name,
      ...(list.length === 1 && { item: list[0]!.item.index }),
    }
  })
}

function restore(plan: Scoped<WritePlan>, items: readonly Item[], written: Map<number, WrittenItem>, call: Call): WriteOperation[] {
  const { resource } = plan
  const closure = closureOf(plan, items, call, 'grouped')
  const { root, cyclic } = closure.dependents
  const empty = Object.fromEntries(
    Object.keys(trashColumns(root)).map(role => [resource.roles[role as keyof typeof resource.roles]!.name, null]),
  )
  const along = dependentTables(closure, node => node.roles.deletedAt !== undefined && !plan.apart?.has(node.table))
  const but = (node: Dependents['root']) => node === root ? keysClause(plan, items, call) : undefined
  return [
    ...lockRows(plan, items, call),
    ...cascadeOperations(call, closure, along, { kind: 'restore', trash: 'trashed', named: keysOf(items), except: but }),
    // Children first: what brings them back reads the group off the rows above them; in a circle there is no above, and all keep it to the end.
    ...along.map(node => ({ statement: restoreStatement(call, closure, node, but(node)) })),
    ...(cyclic
      ? along
          .filter(node => node.roles.deletionId && root.roles.deletionId)
          .map(node => ({ statement: ungroupStatement(call, closure, node) }))
      : []),
    ...items.map(item => ({
      ...returning(
        updateStatement(call, resource, empty, rowClauses(plan, item), returnedFields(plan), keyClauses(resource, item.key!)),
        item,
        written,
      ),
      changes: () => [changeOf(call, resource, 'restore', item.key!)],
    })),
  ]
}

function purge(plan: Scoped<WritePlan>, items: readonly Item[], written: Map<number, WrittenItem>, call: Call): WriteOperation[] {
  const { dependents } = closureOf(plan, items, call, 'all')
  // Rows that hang on one another go in one statement with what hangs on them, the scope in its WHERE.
  const own = isSelfReferencing(dependents)
  const start = own ? and([keysClause(plan, items, call), ...plan.scope]) : keysClause(plan, items, call)
  const closure: Closure = { dependents, start, following: 'all', maxTerms: call.engine.limits?.terms }
  const below = dependentTables(closure, () => true)
  for (const item of items) written.set(item.index, {})
  return [
    ...(own ? stillVisible(plan, items, call) : lockRows(plan, items, call)),
    ...cascadeOperations(call, closure, below, { kind: 'purge', trash: 'all', named: keysOf(items) }),
    ...restrictOperations(closure, call),
    ...dependents.release.map(edge => ({
      statement: releaseStatement(call, closure, edge, call.api.graph.get(edge.table)!, call.api.graph.get(edge.foreignTable)!),
    })),
    ...(needsMarking(dependents, call) ? removeCycle(call, closure, below) : below.map(node => removeStatement(call, closure, node))).map(
      statement => ({ statement }),
    ),
    ...(own ? [{ ...allGone(plan, items, call), changes: () => deletedChanges(plan, items, call) }] : deleteRows(plan, items, call)),
  ]
}

/** All rows in one statement, for one of them may refer to another; those that code judged are looked at once more first. */
function deleteRows(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): WriteOperation[] {
  const { resource, scope } = plan
  if (items.length === 1)
    return [
      {
        statement: deleteStatement(call, resource, rowClauses(plan, items[0]!)),
        expectation: 'row',
        item: items[0]!.index,
        changes: () => deletedChanges(plan, items, call),
      },
    ]
  const statement = deleteStatement(call, resource, [keysClause(plan, items, call), ...scope])
  // A row that the database takes along with another one is not counted.
  if (isSelfReferencing(findDependents(call.api.graph, resource.table)))
    return [
      ...stillVisible(plan, items, call),
      { statement: { text: statement.text, values: statement.values }, changes: () => deletedChanges(plan, items, call) },
      allGone(plan, items, call),
    ]
  return [
    ...(plan.accepts ? stillVisible(plan, items, call) : []),
    {
      statement: { ...statement, expect: items.length, whole: false },
      expectation: 'row',
      changes: () => deletedChanges(plan, items, call),
    },
  ]
}

/** Every row is visible still, and still what it was when code judged it. */
function stillVisible(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): WriteOperation[] {
  if (plan.accepts)
    return items.map((item): WriteOperation => ({
      statement: selectStatement(call, plan.resource, rowClauses(plan, item), keyFields(plan.resource), 'update'),
      expectation: 'row',
      item: item.index,
      phase: 'lock',
    }))
  return [
    {
      statement: {
        ...selectStatement(call, plan.resource, [keysClause(plan, items, call), ...plan.scope], keyFields(plan.resource), 'update'),
        expect: items.length,
      },
      expectation: 'row',
      phase: 'lock',
    },
  ]
}

function allGone(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): WriteOperation {
  return {
    statement: { ...selectStatement(call, plan.resource, [keysClause(plan, items, call)], keyFields(plan.resource)), expect: 0 },
    expectation: 'row',
  }
}

const keysOf = (items: readonly Item[]) => items.map(({ key }) => key!)

const deletedChanges = ({ resource, kind }: WritePlan, items: readonly Item[], call: Call) =>
  items.map(({ key }) => changeOf(call, resource, kind as 'delete' | 'purge', key!))

const recordChange = ({ resource }: WritePlan, record: RecordValues, call: Call) =>
  changeOf(
    call,
    resource,
    'create',
    resource.primaryKey.map(field => record[field.name]),
  )

const isSelfReferencing = ({ root, edges }: Dependents) => edges.some(edge => edge.table === root.table)

function closureOf(plan: Scoped<WritePlan>, items: readonly Item[], call: Call, following: Following): Closure {
  return {
    dependents: findDependents(call.api.graph, plan.resource.table),
    start: keysClause(plan, items, call),
    following,
    maxTerms: call.engine.limits?.terms,
    ...(following === 'active' && items.length > 1 && { manyRoots: true }),
  }
}

/** The tables below the root, those furthest from it first; the root's own where it hangs on itself. */
function dependentTables({ dependents }: Closure, wanted: (node: Dependents['root']) => boolean): Dependents['root'][] {
  return dependents.nodes.filter(node => wanted(node) && dependents.edges.some(edge => edge.table === node.table)).reverse()
}

function restrictOperations(closure: Closure, call: Call): WriteOperation[] {
  return closure.dependents.restrict.map(edge => ({
    statement: restrictStatement(call, closure, edge, call.api.graph.get(edge.table)!, call.api.graph.get(edge.foreignTable)!),
    expectation: 'restrict' as const,
  }))
}

/** This row, if it is still visible, and still what it was when it was judged. */
function rowClauses(plan: Scoped<WritePlan>, item: Item): readonly Clause[] {
  return [...keyClauses(plan.resource, item.key!), ...plan.scope, ...unchangedSince(plan, item)]
}

function returning(statement: Returning, item: Item, written: Map<number, WrittenItem>): WriteOperation {
  return {
    statement,
    expectation: 'row',
    item: item.index,
    read: ({ rows }) => written.set(item.index, { record: statement.extra(rows[0]!) }),
  }
}

/** What is read back: what the caller may read and the address. */
function returnedFields({ resource, selection }: WritePlan): Selection {
  return withKey(resource, selection)
}

/** The columns a write may set; keys that are no column were for the hooks. */
export function writableValues(plan: WritePlan, { values }: Item): Record<string, unknown> {
  const never = unwritableNames(plan)
  const result: Record<string, unknown> = {}
  for (const name of Object.keys(values)) {
    if (values[name] !== undefined && plan.resource.fields.has(name) && !never.has(name)) result[name] = values[name]
  }
  return result
}

export function idOf({ resource }: WritePlan, record: RecordValues): string {
  return toId(resource, resource.primaryKey.map(field => record[field.name]))
}
