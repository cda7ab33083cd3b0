/** What goes with a row: the tables a delete, a restore or a purge reaches from a resource, found once per resource. */
import type { Table } from 'drizzle-orm'
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import type { GraphNode, TableGraph } from '../../../schema/graph'

export interface Dependents {
  readonly root: GraphNode
  /** Foreign keys along which rows are taken along; both ends are reached. */
  readonly edges: readonly ForeignKeyFacts[]
  /** Foreign keys that forbid it while a row still refers to one that goes. */
  readonly restricting: readonly ForeignKeyFacts[]
  /** Foreign keys that are emptied when the row they point at is gone for good. */
  readonly cleared: readonly ForeignKeyFacts[]
  /** The reached tables, the root first, every table after those it hangs on where there is no circle. */
  readonly nodes: readonly GraphNode[]
  /** Tables hang on one another: no order of them has every parent before its children. */
  readonly cyclic: boolean
}

const RELEASING = new Set<ForeignKeyFacts['onDelete']>(['set null', 'set default'])

const cache = new WeakMap<TableGraph, Map<Table, Dependents>>()

/** Over every foreign key, declared `cascade` or not; `set null` leaves the child where it is, `restrict` forbids. */
export function findDependents(graph: TableGraph, table: Table): Dependents {
  let known = cache.get(graph)
  if (!known) cache.set(graph, known = new Map())
  let reach = known.get(table)
  if (!reach) known.set(table, reach = collectDependents(graph, graph.get(table)!))
  return reach
}

function collectDependents(graph: TableGraph, root: GraphNode): Dependents {
  const edges = new Set<ForeignKeyFacts>()
  const nodes = new Set([root])
  for (const node of nodes) {
    for (const key of node.children) {
      if (key.onDelete === 'restrict' || RELEASING.has(key.onDelete)) continue
      edges.add(key)
      nodes.add(graph.get(key.table)!)
    }
  }
  const all = [...nodes].flatMap(node => node.children)
  const sorted = sort([...nodes], [...edges])
  const place = (table: Table) => sorted.findIndex(node => node.table === table)
  return Object.freeze({
    root,
    edges: [...edges],
    restricting: all.filter(key => key.onDelete === 'restrict'),
    cleared: all.filter(key => RELEASING.has(key.onDelete)),
    nodes: sorted,
    cyclic: [...edges].some(edge => place(edge.table) < place(edge.foreignTable)),
  })
}

/** Parents before children; within a circle in the order of discovery. */
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
