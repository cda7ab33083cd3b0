/** Histories of requests that run one after the other, and faults that can be planted in them. */
import fc from 'fast-check'
import { isWrite, type History, type Key, type Operation, type Outcome, type Transaction, type Write } from './check/history'
import type { AnomalyType } from './check/check'

const KEYS: readonly Key[] = ['list 1', 'list 2', 'register 1', 'register 2', 'set 1', 'set 2']

interface Step {
  /** The keys that are read, as positions. */
  readonly reads: readonly number[]
  readonly writes: readonly number[]
  readonly outcome: Outcome
  /** Whether a request without a response took effect. */
  readonly isApplied: boolean
  /** Whether the request writes its first key twice. */
  readonly isTwice: boolean
  readonly before: number
  readonly after: number
}

const some = fc.uniqueArray(fc.nat(KEYS.length - 1), { maxLength: 4 })

const step: fc.Arbitrary<Step> = fc.record({
  reads: some, writes: some, isApplied: fc.boolean(), isTwice: fc.boolean(),
  outcome: fc.constantFrom<Outcome>('done', 'done', 'done', 'done', 'refused', 'unknown'),
  before: fc.double({ min: 0, max: 5, noNaN: true }), after: fc.double({ min: 0, max: 5, noNaN: true }),
})

/** Each request takes effect at its position, somewhere between its begin and its end. */
export const serial: fc.Arbitrary<History> = fc.tuple(fc.array(step, { minLength: 3, maxLength: 40 }), fc.boolean()).map(toHistory)

function toHistory([steps, hasLog]: [Step[], boolean]): History {
  const state = new Map<Key, number[]>(KEYS.map(key => [key, []]))
  const log = new Map<Key, [number, number][]>(KEYS.filter(key => key.startsWith('register')).map(key => [key, []]))
  let next = 0
  const transactions = steps.map(({ reads, writes, outcome, isApplied, isTwice, before, after }, index): Transaction => {
    const operations = reads.map(at => readOf(KEYS[at]!, state))
    for (const at of isTwice ? [...writes.slice(0, 1), ...writes] : writes) {
      const operation = writeOf(KEYS[at]!, ++next)
      operations.push(operation)
      if (outcome === 'done' || (outcome === 'unknown' && isApplied)) apply(operation, state, log)
    }
    const end = outcome === 'unknown' ? Infinity : index + after
    return { name: `request ${index}`, outcome, begin: index - before, end, operations }
  })
  return { transactions, last: KEYS.map(key => readOf(key, state)), ...hasLog && { log } }
}

function readOf(key: Key, state: ReadonlyMap<Key, readonly number[]>): Operation {
  const values = state.get(key)!
  if (key.startsWith('register')) return { kind: 'read register', key, value: values.at(-1) ?? 0 }
  return { kind: key.startsWith('list') ? 'read list' : 'read set', key, values: [...values] }
}

const writeOf = (key: Key, value: number): Operation =>
  ({ kind: key.startsWith('list') ? 'append' : key.startsWith('set') ? 'add' : 'write', key, value })

function apply(operation: Operation, state: Map<Key, number[]>, log: Map<Key, [number, number][]>): void {
  if (!isWrite(operation)) return
  const { key, value } = operation
  log.get(key)?.push([state.get(key)!.at(-1) ?? 0, value])
  state.get(key)!.push(value)
}

type Plant = (history: History) => History | undefined

/** Calls the first transaction with such a write refused. */
function refuse({ transactions, ...rest }: History, kind: Write['kind']): History | undefined {
  const at = transactions.findIndex(({ outcome, operations }) => outcome === 'done' && operations.some(operation => operation.kind === kind))
  return at === -1 ? undefined : { ...rest, transactions: transactions.with(at, { ...transactions[at]!, outcome: 'refused' }) }
}

/** A request after all others, on keys that no other one has. */
const later = (index: number, operations: readonly Operation[], outcome: Outcome = 'done'): Transaction =>
  ({ name: `planted ${index}`, outcome, begin: 1000 + index * 10, end: 1005 + index * 10, operations })
/** At the same time as others. */
const overlapping = (index: number, operations: readonly Operation[]): Transaction =>
  ({ ...later(index, operations), begin: 1000 + index, end: 2000 + index })

const list = (key: Key, ...values: number[]): Operation => ({ kind: 'read list', key, values })
const register = (key: Key, value: number): Operation => ({ kind: 'read register', key, value })
const append = (key: Key, value: number): Operation => ({ kind: 'append', key, value })
const write = (key: Key, value: number): Operation => ({ kind: 'write', key, value })

const plus = (history: History, transactions: readonly Transaction[], last: readonly Operation[]): History =>
  ({ ...history, transactions: [...history.transactions, ...transactions], last: [...history.last, ...last] })

/** Each adds an anomaly to a history without one, if the history has what it needs. */
export const PLANTS: Readonly<Record<string, readonly [plant: Plant, type: AnomalyType]>> = {
  'an append that is refused but read': [history => refuse(history, 'append'), 'G1a'],
  'a member of a set that is refused but read': [history => refuse(history, 'add'), 'G1a'],
  'an append that the end does not have': [history => plus(history, [later(0, [append('x', 1)])], [list('x')]), 'lost write'],
  'a member that the end does not have': [
    history => plus(history, [later(0, [{ kind: 'add', key: 'x', value: 1 }])], [{ kind: 'read set', key: 'x', values: [] }]), 'lost write',
  ],
  'a half batch at the end': [
    history => plus(history, [{ ...later(0, [append('x', 1), append('y', 2)], 'unknown'), end: Infinity }], [list('x', 1), list('y')]),
    'half batch',
  ],
  'a half batch in a read': [
    history => plus(history, [
      overlapping(0, [append('x', 1), write('y', 2)]), overlapping(1, [list('x', 1), register('y', 0)]),
    ], [list('x', 1), register('y', 2)]),
    'half batch',
  ],
  'an intermediate value': [
    history => plus(history, [overlapping(0, [append('x', 1), append('x', 2)]), overlapping(1, [list('x', 1)])], [list('x', 1, 2)]), 'G1b',
  ],
  'two writes after one version': [
    history => plus(history, [
      overlapping(0, [register('x', 0), write('x', 1)]), overlapping(1, [register('x', 0), write('x', 2)]),
    ], [register('x', 2)]),
    'lost update',
  ],
  'a read of an old version': [history => plus(history, [later(0, [append('x', 1)]), later(1, [list('x')])], [list('x', 1)]), 'not in time'],
}
