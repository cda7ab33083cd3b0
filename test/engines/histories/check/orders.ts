/** The order of the versions of each key, and the dependencies that follow from it. */
import type { Edge } from './graph'
import type { History, Key } from './history'
import { valuesOf, type Facts, type KeyFacts } from './facts'

/** The initial version of a key. */
const INITIAL = -1

/** A version, and the transaction that wrote it. */
interface Version { readonly value: number, readonly by: number }

export interface Order {
  /** In their order, without the initial one. */
  readonly values: readonly number[]
  /** Why the order is none. */
  readonly problem?: string
}

/** The longest list that a request read. Every other one is a beginning of it. */
export function listOrder({ reads }: KeyFacts): Order {
  let longest: readonly number[] = []
  for (const { read } of reads) if (valuesOf(read).length > longest.length) longest = valuesOf(read)
  if (new Set(longest).size < longest.length) return { values: longest, problem: `a value appears twice in ${longest}` }
  const other = reads.map(({ read }) => valuesOf(read)).find(values => values.some((value, index) => longest[index] !== value))
  return { values: longest, ...other && { problem: `neither ${other} nor ${longest} is the beginning of the other` } }
}

/** The log has the predecessor of each value, so the values are one chain. */
export function loggedOrder(entries: readonly (readonly [before: number, after: number])[]): Order {
  const next = new Map(entries)
  const values: number[] = []
  for (let at = next.get(0); at !== undefined && values.length < entries.length; at = next.get(at)) values.push(at)
  const isChain = values.length === entries.length && new Set(values).size === values.length
  const text = entries.map(([before, after]) => `${before}→${after}`).join(' ')
  return { values, ...!isChain && { problem: `the log is not one chain: ${text}` } }
}

/** The edges of versions in a total order. */
export function* edgesOfOrder(key: Key, { values }: Order, { writers, reads }: KeyFacts, kind: 'list' | 'register'): Iterable<Edge> {
  const byOf = (value: number | undefined) => value === undefined ? undefined : writers.get(value)?.by
  const at = new Map(values.map((value, index) => [value, index]))
  for (let index = 1; index < values.length; index++) {
    const [from, to] = [byOf(values[index - 1]), byOf(values[index])]
    if (from !== undefined && to !== undefined) yield { from, to, type: 'ww', key }
  }
  for (const { by, read } of reads) {
    const found = valuesOf(read)
    const index = kind === 'list' ? found.length - 1 : found.length === 0 ? -1 : at.get(found[0]!)
    if (index === undefined) continue
    yield* readEdges(key, by, index < 0 ? undefined : byOf(values[index]), [byOf(values[index + 1])])
  }
}

function* readEdges(key: Key, by: number, writer: number | undefined, following: readonly (number | undefined)[]): Iterable<Edge> {
  if (writer !== undefined) yield { from: writer, to: by, type: 'wr', key }
  for (const to of following) if (to !== undefined) yield { from: by, to, type: 'rw', key }
}

/**
 * A register without a log. The initial value is the first one, a value follows the one that its transaction read, and of two writes of
 * which one ended before the other began, the first has the earlier value. A value that is still read after another write has ended is the
 * later one.
 */
export function* edgesOfRegister(key: Key, { writers, reads }: KeyFacts, { transactions, isCommitted }: Facts): Iterable<Edge> {
  const versions: Version[] = [...writers]
    .filter(([, { by, isIntermediate }]) => isCommitted(by) && !isIntermediate)
    .map(([value, { by }]) => ({ value, by }))
  const readBy = new Map(reads.map(({ by, read }) => [by, valuesOf(read)[0] ?? INITIAL]))
  const endOf = (by: number) => transactions[by]!.end
  const beginOf = (by: number) => transactions[by]!.begin
  const follows = ({ value, by }: { readonly value: number, readonly by: number }, later: Version) =>
    later.value !== value && (value === INITIAL || readBy.get(later.by) === value || endOf(by) < beginOf(later.by))
  for (const version of versions) {
    for (const later of versions) if (follows(version, later)) yield { from: version.by, to: later.by, type: 'ww', key }
  }
  for (const { by, read } of reads) {
    const value = valuesOf(read)[0] ?? INITIAL
    const writer = writers.get(value)?.by
    const version = { value, by: writer ?? -1 }
    yield* readEdges(key, by, writer, versions.filter(later => later.by !== by && follows(version, later)).map(later => later.by))
    if (writer === undefined) continue
    for (const earlier of versions) {
      const isLater = earlier.by !== writer && earlier.by !== by && endOf(earlier.by) < beginOf(by)
      if (isLater) yield { from: earlier.by, to: writer, type: 'ww', key }
    }
  }
}

/**
 * A value of a set is absent, then present, and absent again if it is removed. From an absence that can be either of both, nothing follows.
 */
export function* edgesOfSet(key: Key, { writers, removers, reads }: KeyFacts, { transactions, isCommitted }: Facts): Iterable<Edge> {
  const canBeRemoved = (value: number) => removers.has(value) && transactions[removers.get(value)!]!.outcome !== 'refused'
  for (const [value, remover] of removers) if (isCommitted(remover)) yield { from: writers.get(value)!.by, to: remover, type: 'ww', key }
  for (const { by, read } of reads) {
    const present = new Set(valuesOf(read))
    for (const [value, { by: writer }] of writers) {
      const remover = removers.get(value)
      const isBefore = () => !canBeRemoved(value) || transactions[by]!.end < transactions[remover!]!.begin
      if (present.has(value)) yield* readEdges(key, by, writer, [remover !== undefined && isCommitted(remover) ? remover : undefined])
      else if (isCommitted(writer) && isBefore()) yield { from: by, to: writer, type: 'rw', key }
    }
  }
}

/**
 * Edges from each transaction to those that began after it had ended, without those that follow from others. Only the responses of
 * finished transactions are known.
 */
export function* edgesOfTime({ transactions, isCommitted }: Facts): Iterable<Edge> {
  const committed = transactions.map((_, index) => index).filter(isCommitted)
  const events = committed
    .flatMap(by => [{ at: transactions[by]!.begin, by, isEnd: false }, { at: transactions[by]!.end, by, isEnd: true }])
    .filter(({ at, by, isEnd }) => !isEnd || (at !== Infinity && transactions[by]!.outcome === 'done'))
    // The reads at the end begin last.
    .sort((a, b) => a.at === b.at ? a.by - b.by : a.at - b.at)
  let ended: number[] = []
  for (const { by, isEnd } of events) {
    if (!isEnd) for (const from of ended) yield { from, to: by, type: 'rt' }
    else ended = [...ended.filter(other => transactions[other]!.end >= transactions[by]!.begin), by]
  }
}

export const orderOf = (key: Key, facts: KeyFacts, { log }: History): Order | undefined =>
  facts.kind === 'list' ? listOrder(facts) : log?.has(key) ? loggedOrder(log.get(key)!) : undefined
