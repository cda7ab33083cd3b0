/** What a history says about each key: who wrote which value, who read it, and which transactions took effect. */
import { isWrite, type History, type Key, type Operation, type Transaction } from './history'

export interface Writer {
  /** The position of the transaction. */
  readonly by: number
  /** Whether the transaction writes the key once more afterwards. */
  readonly isIntermediate: boolean
}

export type Read = Extract<Operation, { readonly kind: 'read list' | 'read set' | 'read register' }>

export interface KeyFacts {
  readonly kind: 'list' | 'register' | 'set'
  readonly writers: ReadonlyMap<number, Writer>
  readonly removers: ReadonlyMap<number, number>
  readonly reads: readonly { readonly by: number, readonly read: Read }[]
}

export interface Facts {
  /** Those of the history, then the reads at the end. */
  readonly transactions: readonly Transaction[]
  readonly keys: ReadonlyMap<Key, KeyFacts>
  /** Whether a transaction took effect: a response, a read or the log shows it. */
  readonly isCommitted: (transaction: number) => boolean
}

const KINDS = {
  'append': 'list', 'write': 'register', 'add': 'set', 'remove': 'set', 'read list': 'list', 'read register': 'register', 'read set': 'set',
} as const

interface Collected {
  readonly kind: KeyFacts['kind']
  readonly writers: Map<number, Writer>
  readonly removers: Map<number, number>
  readonly reads: { readonly by: number, readonly read: Read }[]
}

export const valuesOf = (read: Read): readonly number[] =>
  read.kind !== 'read register' ? read.values : read.value === 0 ? [] : [read.value]

export function toFacts({ transactions, last, log }: History): Facts {
  const end: Transaction = { name: 'the reads at the end', outcome: 'done', begin: Infinity, end: Infinity, operations: last }
  const all = [...transactions, end]
  const keys = new Map<Key, Collected>()
  const factsOf = ({ key, kind }: Operation): Collected => {
    let facts = keys.get(key)
    if (!facts) keys.set(key, facts = { kind: KINDS[kind], writers: new Map(), removers: new Map(), reads: [] })
    return facts
  }
  all.forEach(({ outcome, operations }, by) => operations.forEach((operation, index) => {
    const facts = factsOf(operation)
    if (!isWrite(operation)) {
      if (outcome === 'done') facts.reads.push({ by, read: operation })
    }
    else if (operation.kind === 'remove') {
      facts.removers.set(operation.value, by)
    }
    else {
      const isIntermediate = operation.kind !== 'add'
        && operations.some((later, at) => at > index && later.kind === operation.kind && later.key === operation.key)
      facts.writers.set(operation.value, { by, isIntermediate })
    }
  }))
  const shown = new Set<number>()
  for (const [key, { reads, writers, removers, kind }] of keys) {
    for (const { read } of reads) for (const value of valuesOf(read)) if (writers.has(value)) shown.add(writers.get(value)!.by)
    for (const [, after] of log?.get(key) ?? []) if (writers.has(after)) shown.add(writers.get(after)!.by)
    if (kind !== 'set') continue
    const remaining = new Set(valuesOf(reads.at(-1)!.read))
    for (const [value, by] of removers) if (all[writers.get(value)!.by]!.outcome === 'done' && !remaining.has(value)) shown.add(by)
  }
  return {
    transactions: all,
    keys,
    isCommitted: by => all[by]!.outcome === 'done' || (all[by]!.outcome === 'unknown' && shown.has(by)),
  }
}
