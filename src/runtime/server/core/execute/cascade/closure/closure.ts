/** The closure of a cascade, its columns, and what each dialect provides for it. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import { DIALECTS } from '../../../../engines/dialects/index'
import type { ForeignKeyFacts } from '../../../../schema/drizzle/foreign-keys'
import { columnOf, type GraphNode } from '../../../../schema/graph'
import type { Clause } from '../../../sql/clause'
import { shape, type Shape } from '../../../sql/shape'
import type { Dependents } from '../dependents'

export type FollowedRows = 'active' | 'grouped' | 'all'

/** The rows that a cascade reaches from some rows. */
export interface Closure {
  readonly dependents: Dependents
  /** Selects the rows that the cascade starts from. */
  readonly start: Clause
  /**
   * The dependents that the query includes: `active` rows and rows that this commit deletes; `grouped`: trashed rows with the same
   * `deletionId`; `all` rows.
   */
  readonly followedRows: FollowedRows
  /** The engine's limit for the terms of a compound SELECT, if it has a low limit. */
  readonly maxTerms?: number
  /** The cascade starts from several rows with a group each. A row that descends from several of them joins the group of the nearest. */
  readonly manyRoots?: boolean
}

export interface RowChange {
  /** Assignments; without them the rows are deleted. */
  readonly set?: readonly SQL[]
  readonly where?: SQL
}

/** The statements over a closure in one dialect. `withClosure` is its WITH clause. */
export interface ClosureSql {
  /** The recursive part: ` union select … from reached …`. */
  readonly recursion: (closure: Closure) => SQL
  /** `update child …`, or `delete from child …`, of the rows whose columns are among those of a query. */
  readonly changeRows: (withClosure: SQL, node: GraphNode, columns: readonly Column[], rows: SQL, change: RowChange) => SQL
  /** Updates the reached rows of a table; the assignments can use `groupOf`. */
  readonly changeWithGroup: (closure: Closure, withClosure: SQL, node: GraphNode, change: Required<RowChange>) => SQL
  /** The group of a reached row, in the statement that changes it. */
  readonly groupOf: (closure: Closure, node: GraphNode) => SQL
  /** The primary keys of the reached rows of a table. */
  readonly selectKeys: (closure: Closure, node: GraphNode) => SQL
  /** The referenced columns of the reached rows of a table. */
  readonly selectReferenced: (closure: Closure, edge: ForeignKeyFacts, parent: GraphNode) => SQL
  /** The columns are among those of a query, byte for byte. */
  readonly inRows: (columns: readonly Column[], rows: SQL) => SQL
}

/** `reached(t, k0, k1, g, d)`: table, primary key columns, `deletionId` and `deletedAt` of each reached row. */
export const CLOSURE = sql.identifier('reached')
/** The position of the row's table. */
export const TABLE = sql.identifier('t')
export const key = (index: number) => sql.identifier(`k${index}`)
/** The group in the trash: the root's `deletionId`, or its `deletedAt` where a table has no `deletionId`. */
export const GROUP = sql.identifier('g')
export const TIME = sql.identifier('d')

export const closureShape = ({ dependents, start, followedRows, manyRoots, maxTerms }: Closure): Shape =>
  shape`${dependents.root}${followedRows}${manyRoots}${maxTerms}${start.shape}`

export const adapterOf = ({ dependents }: Closure) => DIALECTS[dependents.root.facts.dialect]

/** The number that stands for a table in the closure. Unlike a name, a number needs no quotes. */
export const tableNumber = ({ dependents }: Closure, node: GraphNode) => sql.raw(String(dependents.nodes.indexOf(node)))

/** The number of key columns in the closure. */
export const widthOf = ({ dependents }: Closure) => Math.max(...dependents.nodes.map(node => node.facts.primaryKey.length))

export const primaryKeyOf = (node: GraphNode) => node.facts.primaryKey.map(name => columnOf(node.facts, name))

/** The columns of a foreign key, and those that it references. */
export const columnsOf = (edge: ForeignKeyFacts, child: GraphNode) => edge.columns.map(name => columnOf(child.facts, name))
export const referencedColumnsOf = (edge: ForeignKeyFacts, parent: GraphNode) =>
  edge.foreignColumns.map(name => columnOf(parent.facts, name))

export const list = (parts: readonly unknown[]) => sql.join(parts.map(part => sql`${part}`), sql`, `)
export const all = (conditions: readonly SQL[]) => sql.join([...conditions], sql` and `)

/** `id`, `(a, b)` */
export const tuple = (parts: readonly unknown[]) => parts.length === 1 ? list(parts) : sql`(${list(parts)})`

/** In a cycle, the query finds rows by their `deletionId`, so rows keep it until all of them are restored. */
export const keepsDeletionId = ({ dependents }: Closure, { roles }: GraphNode) =>
  dependents.cyclic && roles.deletionId !== undefined && dependents.root.roles.deletionId !== undefined
