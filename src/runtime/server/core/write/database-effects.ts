/**
 * Reads the rows that the database itself deletes or updates, because their foreign keys declare it. The API does not need these rows.
 * Listeners do.
 */
import type { Table } from 'drizzle-orm'
import type { ForeignKeyFacts } from '../../schema/drizzle/foreign-keys'
import type { Field } from '../../schema/field'
import { columnOf, type GraphNode } from '../../schema/graph'
import type { Resource } from '../../schema/model'
import type { Key } from '../../schema/record-id'
import type { Call } from '../request/session'
import { keyClauses } from '../plan/read'
import { cascadeOperations } from './cascade/cascaded-rows'
import { clearedOperations } from './cascade/cleared-rows'
import type { Closure } from './cascade/closure/index'
import { findDependents, findUpdatedReferences, type Dependents } from './cascade/dependents'
import { hasListeners } from '../commit/changes/report'
import type { WriteOperation } from '../commit/operation'
import { dependentTables } from './dependents'
import type { Item } from './items'
import { and, equals, isNotNull, not, or } from '../sql/conditions'
import type { Where } from '../sql/where'

/**
 * Reads the rows that reference the deleted rows by a foreign key declared `cascade`, `set null` or `set default`.
 * @param start selects the rows that a statement deletes from the table
 */
export function databaseDeletes(call: Call, { table }: Resource, start: Where, named: readonly Key[]): WriteOperation[] {
  if (!hasListeners(call)) return []
  const closure = databaseClosure(call, findDependents(call.api.graph, table, 'database'), start)
  const tables = dependentTables(closure, () => true)
  const namedRows = new Map([[table, named]])
  return [
    ...cascadeOperations(call, closure, tables, { kind: 'purge', trash: 'all', named: namedRows }),
    ...clearedOperations(call, closure, namedRows),
  ]
}

type Values = Readonly<Record<string, unknown>>

/** Reads the rows whose foreign keys the database changes, because a referenced column changes and the key declares `on update`. */
export function databaseUpdates(call: Call, resource: Resource, { key }: Item, values: Values): WriteOperation[] {
  if (!hasListeners(call)) return []
  const dependents = findUpdatedReferences(call.api.graph, resource.table, new Set(Object.keys(values)))
  if (!dependents) return []
  const names = new Set(dependents.edges.filter(edge => edge.foreignTable === resource.table).flatMap(edge => edge.foreignColumns))
  const changed = [...names].filter(name => Object.hasOwn(values, name)).map(name => [differs(resource.fields.get(name)!, values[name])])
  const closure = databaseClosure(call, dependents, and([...keyClauses(resource, key!), or(changed)]))
  const named = new Map([[resource.table, [key!]]])
  const assigned = (node: GraphNode) => assignedReferences(call, resource, dependents, node, values)
  return cascadeOperations(call, closure, dependentTables(closure, () => true), { kind: 'update', trash: 'all', named, assigned })
}

/** Returns the new values of the foreign keys of a table: `on update cascade` copies the value that the update sets. */
function assignedReferences({ api }: Call, { table, fields }: Resource, { edges }: Dependents, node: GraphNode, values: Values) {
  const valueOf = (of: Table, name: string, visited: ReadonlySet<ForeignKeyFacts>): unknown => {
    if (of === table && Object.hasOwn(values, name)) return fields.get(name)!.encode(values[name])
    const edge = edges.find(candidate => candidate.table === of && candidate.columns.includes(name) && !visited.has(candidate))
    if (!edge || edge.onUpdate !== 'cascade') return null
    return valueOf(edge.foreignTable, edge.foreignColumns[edge.columns.indexOf(name)]!, new Set([...visited, edge]))
  }
  const { facts } = api.graph.get(node.table)!
  return edges.filter(edge => edge.table === node.table).flatMap(edge => edge.columns)
    .map(name => ({ column: columnOf(facts, name), value: valueOf(node.table, name, new Set()) }))
}

/** The closure of rows that the database itself changes. @param start selects the rows that the statement changes */
export const databaseClosure = (call: Call, dependents: Dependents, start: Where): Closure =>
  ({ dependents, start, followedRows: 'all', maxTerms: call.engine.limits?.terms })

/** `not (slug = ?)`. A column that is NULL does not match: no row references it. */
function differs(field: Field, value: unknown): Where {
  if (value === null) return isNotNull(field)
  return not(equals(field, value))
}
