/** The tables that a delete, a restore or a purge of a resource reaches over foreign keys, found once per resource. */
import type { Table } from 'drizzle-orm'
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import type { GraphNode, TableGraph } from '../../../schema/graph'

export interface Dependents {
  readonly root: GraphNode
  /** Foreign keys that the cascade follows; it reaches both tables. */
  readonly edges: readonly ForeignKeyFacts[]
  /** Foreign keys declared `restrict`: a row that references a reached row makes the write fail. */
  readonly restricting: readonly ForeignKeyFacts[]
  /** Foreign keys declared `set null` or `set default`: a purge clears them. */
  readonly cleared: readonly ForeignKeyFacts[]
  /** The reached tables, parents before children except in a cycle. */
  readonly nodes: readonly GraphNode[]
  /** Tables reference each other: no order has every parent before its children. */
  readonly cyclic: boolean
}

const CLEARING = new Set<ForeignKeyFacts['onDelete']>(['set null', 'set default'])

const cache = new WeakMap<TableGraph, Map<Table, Dependents>>()

/** Follows every foreign key except those declared `set null`, `set default` or `restrict`. */
export function findDependents(graph: TableGraph, table: Table): Dependents {
  let known = cache.get(graph)
  if (!known) cache.set(graph, known = new Map())
  let dependents = known.get(table)
  if (!dependents) known.set(table, dependents = collectDependents(graph, graph.get(table)!))
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
  const all = [...nodes].flatMap(node => node.children)
  const sorted = sort([...nodes], [...edges])
  const position = (table: Table) => sorted.findIndex(node => node.table === table)
  return Object.freeze({
    root,
    edges: [...edges],
    restricting: all.filter(key => key.onDelete === 'restrict'),
    cleared: all.filter(key => CLEARING.has(key.onDelete)),
    nodes: sorted,
    cyclic: [...edges].some(edge => position(edge.table) < position(edge.foreignTable)),
  })
}

/** Parents before children; within a cycle in the order of discovery. */
function sort(nodes: readonly GraphNode[], edges: readonly ForeignKeyFacts[]): readonly GraphNode[] {
  const sorted: GraphNode[] = []
  const left = new Set(nodes)
  while (left.size > 0) {
    const ready = [...left].filter(
      node =>
        !edges.some(
          edge =>
            edge.table === node.table && edge.foreignTable !== node.table && [...left].some(other => other.table === edge.foreignTable),
        ),
    )
    for (const node of ready.length > 0 ? ready : [...left].slice(0, 1)) {
      sorted.push(node)
      left.delete(node)
    }
  }
  return sorted
}
