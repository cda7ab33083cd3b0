/** The closure of a cascade: all rows that the cascade reaches. This file defines its columns and the SQL that each dialect provides. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import { DIALECTS } from '../../../../engines/dialects/index'
import type { ForeignKeyFacts } from '../../../../schema/drizzle/foreign-keys'
import { columnOf, type GraphNode } from '../../../../schema/graph'
import type { Part, Where } from '../../../sql/where'
import type { Dependents } from '../dependents'

export type FollowedRows = 'active' | 'grouped' | 'all'

/** All rows that a cascade reaches from its start rows, including the start rows. */
export interface Closure {
  readonly dependents: Dependents
  /** Selects the rows that the cascade starts from. */
  readonly start: Where
  /**
   * The dependents that the query includes.
   * - `active`: active rows, and rows that this commit deletes
   * - `grouped`: trashed rows with the same `deletionId`
   * - `all`: all rows
   */
  readonly followedRows: FollowedRows
  /** The engine's limit for the terms of a compound SELECT, if it has a low limit. */
  readonly maxTerms?: number
  /**
   * The cascade starts from several rows, and each has its own group. If a row descends from several of them, it gets the group of the
   * nearest one.
   */
  readonly manyRoots?: boolean
}

export interface RowChange {
  /** The assignments of an UPDATE. If they are absent, the rows are deleted. */
  readonly set?: readonly Part[]
  readonly where?: Part
}

/** Builds the statements over a closure in one dialect. The parameter `withClosure` is the WITH clause of the closure. */
export interface ClosureSql {
  /** Returns the recursive part of the WITH clause: ` union select … from reached …`. */
  readonly recursion: (closure: Closure) => SQL
  /** Updates or deletes the rows of `node` whose `columns` are in the result of the query `rows`. */
  readonly changeRows: (withClosure: Part, node: GraphNode, columns: readonly Column[], rows: SQL, change: RowChange) => SQL
  /** Updates the reached rows of a table. The assignments can use `groupOf`. */
  readonly changeWithGroup: (closure: Closure, withClosure: Part, node: GraphNode, change: Required<RowChange>) => SQL
  /** Returns the group of a reached row, for an assignment of `changeWithGroup`. */
  readonly groupOf: (closure: Closure, node: GraphNode) => SQL
  /** Selects the primary keys of the reached rows of a table. */
  readonly selectKeys: (closure: Closure, node: GraphNode) => SQL
  /** Selects the columns that the foreign key `edge` references, from the reached rows of `parent`. */
  readonly selectReferenced: (closure: Closure, edge: ForeignKeyFacts, parent: GraphNode) => SQL
  /** Returns the condition that the columns are in the result of a query. It compares values byte by byte. */
  readonly inRows: (columns: readonly Column[], rows: SQL) => SQL
}

/**
 * The recursive query `reached(t, k0, k1, g, d)`, with one row for each reached row. `t` is the number of its table, `k0` and `k1` are
 * its primary key. `g` and `d` are the `deletionId` and `deletedAt` of the start row that it descends from.
 */
export const CLOSURE = sql.identifier('reached')
/** See {@link tableNumber}. */
export const TABLE = sql.identifier('t')
export const key = (index: number) => sql.identifier(`k${index}`)
/** The `deletionId` of the start row. It identifies the rows of one deletion. */
export const GROUP = sql.identifier('g')
/** The `deletedAt` of the start row. It identifies the deletion if a table has no `deletionId`. */
export const TIME = sql.identifier('d')

export const adapterOf = ({ dependents }: Closure) => DIALECTS[dependents.root.facts.dialect]

/** Returns the number that identifies a table in the closure. Unlike a name, a number needs no quotes. */
export const tableNumber = ({ dependents }: Closure, node: GraphNode) => sql.raw(String(dependents.nodes.indexOf(node)))

/** Returns the number of key columns in the closure. */
export const widthOf = ({ dependents }: Closure) => Math.max(...dependents.nodes.map(node => node.facts.primaryKey.length))

export const primaryKeyOf = (node: GraphNode) => node.facts.primaryKey.map(name => columnOf(node.facts, name))

export const columnsOf = (edge: ForeignKeyFacts, child: GraphNode) => edge.columns.map(name => columnOf(child.facts, name))
export const referencedColumnsOf = (edge: ForeignKeyFacts, parent: GraphNode) =>
  edge.foreignColumns.map(name => columnOf(parent.facts, name))

export const list = (parts: readonly unknown[]) => sql.join(parts.map(part => sql`${part}`), sql`, `)
export const all = (conditions: readonly Part[]) => sql.join([...conditions], sql` and `)

/** `id`, `(a, b)` */
export const tuple = (parts: readonly unknown[]) => parts.length === 1 ? list(parts) : sql`(${list(parts)})`

/** In a cycle, the query finds rows by their `deletionId`. So a row keeps its `deletionId` until all rows are restored. */
export const keepsDeletionId = ({ dependents }: Closure, { roles }: GraphNode) =>
  dependents.cyclic && roles.deletionId !== undefined && dependents.root.roles.deletionId !== undefined
