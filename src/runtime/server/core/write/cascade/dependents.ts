/** Finds the tables that a delete, restore or purge reaches through foreign keys. Caches the result for each table. */
import type { Table } from 'drizzle-orm'
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import type { GraphNode, TableGraph } from '../../../schema/graph'
import { memoized, memoizedPair } from '../../memoized'

export interface Dependents {
  readonly root: GraphNode
  /** The foreign keys that the cascade follows. */
  readonly edges: readonly ForeignKeyFacts[]
  /** Foreign keys declared `restrict`. The write fails if a row references a reached row. */
  readonly restricting: readonly ForeignKeyFacts[]
  /** Foreign keys declared `set null` or `set default`. A purge clears them. */
  readonly cleared: readonly ForeignKeyFacts[]
  /** The reached tables. Parents precede children, except in a cycle. */
  readonly nodes: readonly GraphNode[]
  /** If true, tables reference each other in a cycle, so no order has every parent before its children. */
  readonly cyclic: boolean
}

const CLEARING = new Set<ForeignKeyFacts['onDelete']>(['set null', 'set default'])

/**
 * Who deletes the rows that reference a deleted row. The API follows every foreign key except those declared `set null`, `set default` or
 * `restrict`. The database follows only those declared `cascade`.
 */
export type DeletedBy = 'api' | 'database'

const dependentsBy: Readonly<Record<DeletedBy, (graph: TableGraph, table: Table) => Dependents>> = {
  api: memoizedPair((graph, table) => collectDependents(graph, graph.get(table)!, 'api')),
  database: memoizedPair((graph, table) => collectDependents(graph, graph.get(table)!, 'database')),
}

export const findDependents = (graph: TableGraph, table: Table, deletedBy: DeletedBy = 'api'): Dependents =>
  dependentsBy[deletedBy](graph, table)

function collectDependents(graph: TableGraph, root: GraphNode, deletedBy: DeletedBy): Dependents {
  const edges = new Set<ForeignKeyFacts>()
  const nodes = new Set([root])
  const isFollowed = ({ onDelete }: ForeignKeyFacts) =>
    onDelete === 'cascade' || (deletedBy === 'api' && onDelete !== 'restrict' && !CLEARING.has(onDelete))
  for (const node of nodes) {
    for (const key of node.children) {
      if (!isFollowed(key)) continue
      edges.add(key)
      nodes.add(graph.get(key.table)!)
    }
  }
  const foreignKeys = [...nodes].flatMap(node => node.children)
  return toDependents(root, nodes, edges, {
    restricting: foreignKeys.filter(key => key.onDelete === 'restrict'),
    cleared: foreignKeys.filter(key => CLEARING.has(key.onDelete)),
  })
}

/**
 * Finds the tables whose foreign keys the database changes, because an update changes the columns that they reference. Few schemas declare
 * `on update` for columns outside of a primary key, and no update changes a primary key.
 * @param changed the columns that the update sets
 * @returns `undefined` if the database changes no foreign key
 */
export function findUpdatedReferences(graph: TableGraph, table: Table, changed: ReadonlySet<string>): Dependents | undefined {
  const root = graph.get(table)!
  const referenced = root.children.filter(key => UPDATING.has(key.onUpdate)).flatMap(key => key.foreignColumns)
  const names = [...new Set(referenced)].filter(name => changed.has(name)).sort()
  if (names.length === 0) return undefined
  const known = updatedBy(root)
  const key = names.join('\0')
  if (!known.has(key)) known.set(key, collectUpdated(graph, root, names))
  return known.get(key)
}

/** By the names of the changed columns that foreign keys reference. */
const updatedBy = memoized((_: GraphNode) => new Map<string, Dependents>())

function collectUpdated(graph: TableGraph, root: GraphNode, changed: readonly string[]): Dependents {
  const changedColumns = new Map([[root, new Set(changed)]])
  const edges = new Set<ForeignKeyFacts>()
  for (const [node, columns] of changedColumns) {
    for (const key of node.children) {
      if (!UPDATING.has(key.onUpdate) || edges.has(key) || !key.foreignColumns.some(name => columns.has(name))) continue
      edges.add(key)
      const child = graph.get(key.table)!
      const known = changedColumns.get(child) ?? []
      // Visits the child, also again: a second foreign key can change further columns of it.
      changedColumns.delete(child)
      changedColumns.set(child, new Set([...known, ...key.columns]))
    }
  }
  return toDependents(root, new Set([root, ...changedColumns.keys()]), edges, { restricting: [], cleared: [] })
}

const UPDATING = new Set<ForeignKeyFacts['onUpdate']>(['cascade', 'set null', 'set default'])

function toDependents(
  root: GraphNode,
  nodes: ReadonlySet<GraphNode>,
  followed: ReadonlySet<ForeignKeyFacts>,
  others: Pick<Dependents, 'restricting' | 'cleared'>,
): Dependents {
  const edges = [...followed]
  const sorted = sort([...nodes], edges)
  const position = (table: Table) => sorted.findIndex(node => node.table === table)
  return Object.freeze({
    root,
    edges,
    ...others,
    nodes: sorted,
    cyclic: edges.some(edge => position(edge.table) < position(edge.foreignTable)),
  })
}

/** Sorts parents before children. Tables of a cycle stay in the order of discovery. */
function sort(nodes: readonly GraphNode[], edges: readonly ForeignKeyFacts[]): readonly GraphNode[] {
  const sorted: GraphNode[] = []
  const remaining = new Set(nodes)
  while (remaining.size > 0) {
    const ready = [...remaining].filter(
      node =>
        !edges.some(
          edge =>
            edge.table === node.table
            && edge.foreignTable !== node.table
            && [...remaining].some(other => other.table === edge.foreignTable),
        ),
    )
    for (const node of ready.length > 0 ? ready : [...remaining].slice(0, 1)) {
      sorted.push(node)
      remaining.delete(node)
    }
  }
  return sorted
}
