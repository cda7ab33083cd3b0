/** The dependencies between transactions as a graph, and its cycles. */
import type { Key } from './history'

/**
 * `ww`: the next version of a key. `wr`: a read of a version. `rw`: the version after the one that was read. `rt`: began after the other
 * had ended.
 */
export type Dependency = 'ww' | 'wr' | 'rw' | 'rt'

export interface Edge {
  readonly from: number
  readonly to: number
  readonly type: Dependency
  readonly key?: Key
}

export interface Graph {
  readonly edges: readonly Edge[]
  readonly next: readonly (readonly Edge[])[]
}

/** Without edges from a transaction to itself, and without repeated ones. */
export function toGraph(size: number, edges: Iterable<Edge>): Graph {
  const next: Edge[][] = Array.from({ length: size }, () => [])
  const all: Edge[] = []
  for (const edge of edges) {
    const { from, to, type } = edge
    if (from === to || next[from]!.some(other => other.to === to && other.type === type)) continue
    next[from]!.push(edge)
    all.push(edge)
  }
  return { edges: all, next }
}

/** The strongly connected components with more than one node, by Tarjan's algorithm without recursion. */
export function components({ next }: Graph): readonly (readonly number[])[] {
  const index = new Int32Array(next.length).fill(-1)
  const low = new Int32Array(next.length)
  const onStack = new Uint8Array(next.length)
  const stack: number[] = []
  const found: number[][] = []
  let count = 0
  for (let root = 0; root < next.length; root++) {
    if (index[root] !== -1) continue
    const work: [node: number, edge: number][] = [[root, 0]]
    while (work.length > 0) {
      const frame = work.at(-1)!
      const [node, at] = frame
      if (at === 0) {
        index[node] = low[node] = count++
        stack.push(node)
        onStack[node] = 1
      }
      const edge = next[node]![at]
      if (edge) {
        frame[1]++
        if (index[edge.to] === -1) work.push([edge.to, 0])
        else if (onStack[edge.to]) low[node] = Math.min(low[node]!, index[edge.to]!)
        continue
      }
      work.pop()
      const parent = work.at(-1)
      if (parent) low[parent[0]] = Math.min(low[parent[0]]!, low[node]!)
      if (low[node] !== index[node]) continue
      const members: number[] = []
      for (let last = -1; last !== node;) {
        last = stack.pop()!
        onStack[last] = 0
        members.push(last)
      }
      if (members.length > 1) found.push(members)
    }
  }
  return found
}

/** The shortest path over edges of these types, or `undefined`. */
export function findPath(
  { next }: Graph, from: number, to: number, types: ReadonlySet<Dependency>, inside: ReadonlySet<number>,
): readonly Edge[] | undefined {
  const via = new Map<number, Edge>()
  const queue = [from]
  for (const node of queue) {
    for (const edge of next[node]!) {
      if (!types.has(edge.type) || !inside.has(edge.to) || via.has(edge.to)) continue
      via.set(edge.to, edge)
      if (edge.to === to) return pathTo(via, from, to)
      queue.push(edge.to)
    }
  }
  return undefined
}

function pathTo(via: ReadonlyMap<number, Edge>, from: number, to: number): readonly Edge[] {
  const path: Edge[] = []
  for (let node = to; path.length === 0 || node !== from; node = path[0]!.from) path.unshift(via.get(node)!)
  return path
}
