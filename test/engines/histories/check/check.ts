/** Finds the anomalies of a history, by the method of Elle (Kingsbury and Alvaro, 2020). */
import { components, findPath, toGraph, type Dependency, type Edge, type Graph } from './graph'
import { isWrite, type History, type Key, type Transaction } from './history'
import { toFacts, valuesOf, type Facts, type KeyFacts } from './facts'
import { edgesOfOrder, edgesOfRegister, edgesOfSet, edgesOfTime, orderOf, type Order } from './orders'

export type AnomalyType
  = | 'unknown value' | 'no order' | 'lost update' | 'lost write' | 'half batch' | 'not in time'
    | 'G0' | 'G1a' | 'G1b' | 'G1c' | 'G-single' | 'G2'

export interface Anomaly { readonly type: AnomalyType, readonly text: string }

export interface Checked {
  readonly anomalies: readonly Anomaly[]
  readonly operations: number
  readonly edges: Readonly<Record<Dependency, number>>
}

export function check(history: History): Checked {
  const facts = toFacts(history)
  const orders = new Map<Key, Order>()
  for (const [key, of] of facts.keys) {
    const order = orderOf(key, of, history)
    if (order) orders.set(key, order)
  }
  const graph = toGraph(facts.transactions.length, edgesOf(facts, orders))
  const edges = { ww: 0, wr: 0, rw: 0, rt: 0 }
  for (const { type } of graph.edges) edges[type]++
  return {
    anomalies: [
      ...findReads(facts), ...findOrders(facts, orders), ...findLostUpdates(facts), ...findLostWrites(facts, orders),
      ...findCycles(graph, facts),
    ],
    operations: facts.transactions.reduce((sum, { operations }) => sum + operations.length, 0),
    edges,
  }
}

function* edgesOf(facts: Facts, orders: ReadonlyMap<Key, Order>): Iterable<Edge> {
  for (const [key, of] of facts.keys) {
    const order = orders.get(key)
    if (of.kind === 'set') yield* edgesOfSet(key, of, facts)
    else if (order) yield* edgesOfOrder(key, order, of, of.kind)
    else yield* edgesOfRegister(key, of, facts)
  }
  yield* edgesOfTime(facts)
}

const describe = ({ name, operations, begin, end }: Transaction): string => {
  const parts = operations.map(operation =>
    `${operation.kind} ${operation.key}: ${isWrite(operation) ? operation.value : valuesOf(operation).join() || '-'}`)
  return `${name} (${begin} to ${end}): ${parts.slice(0, 12).join('; ')}${parts.length > 12 ? ' …' : ''}`
}

/** Reads of values that no request wrote, that a refused one wrote, or that the same request wrote over. */
function* findReads({ keys, transactions }: Facts): Iterable<Anomaly> {
  for (const [key, { reads, writers, kind }] of keys) {
    for (const { by, read } of reads) {
      const values = valuesOf(read)
      const text = (value: number) => `${key}: ${value}, read by ${describe(transactions[by]!)}`
      for (const [index, value] of values.entries()) {
        const writer = writers.get(value)
        const isLast = kind !== 'set' && index === values.length - 1
        if (!writer) yield { type: 'unknown value', text: text(value) }
        else if (transactions[writer.by]!.outcome === 'refused')
          yield { type: 'G1a', text: `${text(value)}, of ${describe(transactions[writer.by]!)}` }
        else if (writer.isIntermediate && isLast && writer.by !== by) yield { type: 'G1b', text: text(value) }
      }
    }
  }
}

/** Lists of which none is the beginning of the other, logs that are no chain, and logged values of refused requests. */
function* findOrders({ keys, transactions }: Facts, orders: ReadonlyMap<Key, Order>): Iterable<Anomaly> {
  for (const [key, { values, problem }] of orders) {
    if (problem !== undefined) yield { type: 'no order', text: `${key}: ${problem}` }
    const { kind, writers } = keys.get(key)!
    for (const value of kind === 'register' ? values : []) {
      const writer = writers.get(value)
      if (!writer) yield { type: 'unknown value', text: `${key}: ${value} is in the log` }
      else if (transactions[writer.by]!.outcome === 'refused') yield { type: 'G1a', text: `${key}: ${value} is in the log` }
    }
  }
}

/** Two transactions that read the same version of a key and then wrote it. */
function* findLostUpdates({ keys, transactions, isCommitted }: Facts): Iterable<Anomaly> {
  for (const [key, { reads, writers, kind }] of keys) {
    if (kind === 'set') continue
    const writing = new Set([...writers.values()].map(({ by }) => by).filter(isCommitted))
    const updates = Map.groupBy(reads.filter(({ by }) => writing.has(by)), ({ read }) => valuesOf(read).at(-1))
    for (const [version = 'nothing', same] of updates) {
      const updating = same.map(({ by }) => describe(transactions[by]!)).join(' and ')
      if (same.length > 1) yield { type: 'lost update', text: `${key}: from ${version}, ${updating}` }
    }
  }
}

/** Writes that are not there in the end. Of a register without a log, later writes hide the earlier ones. */
function* findLostWrites({ keys, transactions, isCommitted }: Facts, orders: ReadonlyMap<Key, Order>): Iterable<Anomaly> {
  for (const [key, of] of keys) {
    const there = of.kind === 'set' ? setAtEnd(of, isCommitted) : orders.get(key) && new Set(orders.get(key)!.values)
    for (const [value, { by, isIntermediate }] of there ? of.writers : []) {
      if (isCommitted(by) && !isIntermediate && !there!.has(value)) yield lost(transactions[by]!, `${key}: ${value} of`)
    }
    const atEnd = new Set(valuesOf(of.reads.at(-1)!.read))
    for (const [value, by] of of.removers) {
      if (isCommitted(by) && atEnd.has(value)) yield lost(transactions[by]!, `${key}: ${value} is there after`)
    }
  }
}

/** Without a response, other writes of the request show that it took effect. */
const lost = (transaction: Transaction, text: string): Anomaly =>
  ({ type: transaction.outcome === 'done' ? 'lost write' : 'half batch', text: `${text} ${describe(transaction)}` })

/** The values of a set at the end, with those that a committed transaction removed. */
function setAtEnd({ reads, removers }: KeyFacts, isCommitted: Facts['isCommitted']): ReadonlySet<number> {
  return new Set([...valuesOf(reads.at(-1)!.read), ...[...removers].filter(([, by]) => isCommitted(by)).map(([value]) => value)])
}

const WRITTEN: readonly Dependency[] = ['ww']
const READ: readonly Dependency[] = ['ww', 'wr']
const WITHOUT_TIME: readonly Dependency[] = ['ww', 'wr', 'rw']
const ALL: readonly Dependency[] = ['ww', 'wr', 'rw', 'rt']

/** The kinds of cycles, the worst first: a cycle has one of the first dependencies, and a path back over the second. */
const CYCLES: readonly (readonly [type: AnomalyType, first: Dependency, back: readonly Dependency[]])[] = [
  ['G0', 'ww', WRITTEN],
  ['G1c', 'wr', READ],
  ['G-single', 'rw', READ],
  ['G2', 'rw', WITHOUT_TIME],
  ['not in time', 'rt', ALL],
]

/** The first kind of cycle in each component of the graph. */
function* findCycles(graph: Graph, { transactions }: Facts): Iterable<Anomaly> {
  for (const members of components(graph)) {
    const inside = new Set(members)
    const cycle = findCycle(graph, inside)
    if (!cycle) continue
    const [type, edges] = cycle
    const text = edges.map(({ from, to, type, key = '' }) =>
      `${describe(transactions[from]!)}\n  ${type} ${key} → ${describe(transactions[to]!)}`)
    yield { type: isHalf(type, edges) ? 'half batch' : type, text: text.join('\n') }
  }
}

function findCycle(graph: Graph, inside: ReadonlySet<number>): readonly [AnomalyType, readonly Edge[]] | undefined {
  for (const [type, first, back] of CYCLES) {
    let shortest: readonly Edge[] | undefined
    for (const edge of [...inside].flatMap(node => graph.next[node]!)) {
      if (edge.type !== first || !inside.has(edge.to)) continue
      const path = findPath(graph, edge.to, edge.from, new Set(back), inside)
      if (path && (!shortest || path.length + 1 < shortest.length)) shortest = [edge, ...path]
      if (shortest?.length === 2) break
    }
    if (shortest) return [type, shortest]
  }
  return undefined
}

/** A transaction that read one write of another, and not its other one. */
const isHalf = (type: AnomalyType, edges: readonly Edge[]) =>
  type === 'G-single' && edges.length === 2 && edges.every(({ type }) => type === 'wr' || type === 'rw')
