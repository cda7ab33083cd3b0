/** Finds the tables that a delete, restore or purge reaches through foreign keys. Caches the result for each table. */
import type { Table } from 'drizzle-orm'
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import type { GraphNode, TableGraph } from '../../../schema/graph'

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

const cache = new WeakMap<TableGraph, Map<Table, Dependents>>()

/** Follows every foreign key except those declared `set null`, `set default` or `restrict`. */
export function findDependents(graph: TableGraph, table: Table): Dependents {
  let byTable = cache.get(graph)
  if (!byTable) cache.set(graph, byTable = new Map())
  let dependents = byTable.get(table)
  if (!dependents) byTable.set(table, dependents = collectDependents(graph, graph.get(table)!))
  return dependents
}

function collectDependents(graph: TableGraph, root: GraphNode): Dependents {
  const edges = new Set<ForeignKeyFacts>()
  const nodes = new Set([root])
  for (const node of nodes) {
    for (const key of node.children) {
      if (key.onDelete === 'restrict' || CLEARING.has(key.onDelete)) continue
      edges.add(key)
      nodes.add(graph.get(key.table)!)
    }
  }
  const foreignKeys = [...nodes].flatMap(node => node.children)
  const sorted = sort([...nodes], [...edges])
  const position = (table: Table) => sorted.findIndex(node => node.table === table)
  return Object.freeze({
    root,
    edges: [...edges],
    restricting: foreignKeys.filter(key => key.onDelete === 'restrict'),
    cleared: foreignKeys.filter(key => CLEARING.has(key.onDelete)),
    nodes: sorted,
    cyclic: [...edges].some(edge => position(edge.table) < position(edge.foreignTable)),
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
