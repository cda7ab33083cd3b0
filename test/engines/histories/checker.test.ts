/** The checker of histories: each anomaly in a history written by hand, and histories of a model that has none. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { check } from './check/check'
import type { History, Operation, Outcome, Transaction } from './check/history'
import { PLANTS, serial } from './serial-model'

const a = (key: string, value: number): Operation => ({ kind: 'append', key, value })
const w = (key: string, value: number): Operation => ({ kind: 'write', key, value })
const add = (key: string, value: number): Operation => ({ kind: 'add', key, value })
const remove = (key: string, value: number): Operation => ({ kind: 'remove', key, value })
const r = (key: string, ...values: number[]): Operation => ({ kind: 'read list', key, values })
const rr = (key: string, value: number): Operation => ({ kind: 'read register', key, value })
const rs = (key: string, ...values: number[]): Operation => ({ kind: 'read set', key, values })

/** All at the same time. */
const at = (outcome: Outcome, ...operations: Operation[]): Transaction =>
  ({ name: 'a request', outcome, begin: 0, end: outcome === 'unknown' ? Infinity : 100, operations })
const done = (...operations: Operation[]) => at('done', ...operations)
/** From a time to another. */
const during = (begin: number, end: number, ...operations: Operation[]): Transaction => ({ ...done(...operations), begin, end })

const typesOf = (history: History) => [...new Set(check(history).anomalies.map(({ type }) => type))]

const HISTORIES: readonly (readonly [title: string, types: readonly string[], history: History])[] = [
  ['appends in one order', [], { transactions: [done(a('x', 1)), done(r('x', 1), a('x', 2)), done(r('x'))], last: [r('x', 1, 2)] }],
  ['G0: two requests that append to two lists in different orders', ['G0'], {
    transactions: [done(a('x', 1), a('y', 1)), done(a('x', 2), a('y', 2))], last: [r('x', 1, 2), r('y', 2, 1)],
  }],
  ['G0: a log in which two requests write two registers in different orders', ['G0'], {
    transactions: [done(w('x', 1), w('y', 1)), done(w('x', 2), w('y', 2))], last: [rr('x', 2), rr('y', 1)],
    log: new Map([['x', [[0, 1], [1, 2]]], ['y', [[0, 2], [2, 1]]]]),
  }],
  ['G1a: a read of a refused append', ['G1a'], { transactions: [at('refused', a('x', 1)), done(r('x', 1))], last: [r('x', 1)] }],
  ['G1a: a refused write that is there at the end', ['G1a'], { transactions: [at('refused', w('x', 1))], last: [rr('x', 1)] }],
  ['G1a: a refused write that only the log has', ['G1a'], {
    transactions: [at('refused', w('x', 1)), done(w('x', 2))], last: [rr('x', 2)], log: new Map([['x', [[0, 1], [1, 2]]]]),
  }],
  ['G1b: a read between two appends of a request', ['G1b', 'half batch'], {
    transactions: [done(a('x', 1), a('x', 2)), done(r('x', 1))], last: [r('x', 1, 2)],
  }],
  ['G1b: a read between two writes of a request', ['G1b'], {
    transactions: [done(w('x', 1), w('x', 2)), done(rr('x', 1))], last: [rr('x', 2)],
  }],
  ['G1c: two requests that read what the other one writes', ['G1c'], {
    transactions: [done(a('x', 1), r('y', 1)), done(a('y', 1), r('x', 1))], last: [r('x', 1), r('y', 1)],
  }],
  ['G-single: a read of an old and of a new version of another request', ['G-single'], {
    transactions: [done(a('x', 1)), done(r('x', 1), a('y', 1)), done(r('x'), r('y', 1))], last: [r('x', 1), r('y', 1)],
  }],
  ['G2: two requests that read what the other one writes over', ['G2'], {
    transactions: [done(r('x'), a('y', 1)), done(r('y'), a('x', 1))], last: [r('x', 1), r('y', 1)],
  }],
  ['a lost update of a list', ['no order', 'lost update', 'lost write'], {
    transactions: [done(r('x'), a('x', 1)), done(r('x'), a('x', 2)), done(r('x', 1))], last: [r('x', 2)],
  }],
  ['a lost update of a register with a log', ['lost update', 'G-single'], {
    transactions: [done(rr('x', 0), w('x', 1)), done(rr('x', 0), w('x', 2))], last: [rr('x', 2)], log: new Map([['x', [[0, 1], [1, 2]]]]),
  }],
  ['a half batch in a read', ['half batch'], {
    transactions: [done(a('x', 1), w('y', 1)), done(r('x', 1), rr('y', 0))], last: [r('x', 1), rr('y', 1)],
  }],
  ['a half batch of a set in a read', ['half batch'], {
    transactions: [done(add('x', 1), add('y', 1)), done(rs('x', 1), rs('y'))], last: [rs('x', 1), rs('y', 1)],
  }],
  ['a half batch without a response', ['half batch'], { transactions: [at('unknown', a('x', 1), a('y', 1))], last: [r('x', 1), r('y')] }],
  ['no response, and nothing is written', [], { transactions: [at('unknown', a('x', 1), a('y', 1))], last: [r('x'), r('y')] }],
  ['no response, and everything is written', [], { transactions: [at('unknown', a('x', 1), a('y', 1))], last: [r('x', 1), r('y', 1)] }],
  ['an acknowledged append that is lost', ['lost write'], { transactions: [done(a('x', 1)), done(a('x', 2))], last: [r('x', 2)] }],
  ['an acknowledged write that the log does not have', ['lost write'], {
    transactions: [done(w('x', 1)), done(w('x', 2))], last: [rr('x', 2)], log: new Map([['x', [[0, 2]]]]),
  }],
  ['a removed member that is there', ['lost write', 'not in time'], {
    transactions: [during(0, 1, add('x', 1)), during(2, 3, remove('x', 1))], last: [rs('x', 1)],
  }],
  ['a member that is added, read and removed', [], {
    transactions: [during(0, 1, add('x', 1)), during(2, 3, rs('x', 1)), during(4, 5, remove('x', 1)), during(6, 7, rs('x'))],
    last: [rs('x')],
  }],
  ['a value that no request wrote', ['unknown value'], { transactions: [done(rr('x', 9))], last: [rr('x', 0)] }],
  ['a read of an old version after the write has ended', ['not in time'], {
    transactions: [during(0, 1, a('x', 1)), during(2, 3, r('x'))], last: [r('x', 1)],
  }],
]

describe('the checker of histories', () => {
  it.each(HISTORIES)('finds in %s: %j', (_title, types, history) => {
    expect(typesOf(history)).toEqual(types)
  })

  it('counts operations and edges', () => {
    const transactions = [during(0, 1, a('x', 1)), during(2, 3, r('x', 1), a('x', 2))]
    const { operations, edges } = check({ transactions, last: [r('x', 1, 2)] })
    expect({ operations, edges }).toEqual({ operations: 4, edges: { ww: 1, wr: 2, rw: 0, rt: 2 } })
  })

  it('finds nothing in a history of requests that run one after the other', () => {
    fc.assert(fc.property(serial, (history) => {
      expect(check(history).anomalies).toEqual([])
    }), { numRuns: 500 })
  })

  it.each(Object.entries(PLANTS))('finds in any such history: %s', (_title, [plant, type]) => {
    fc.assert(fc.property(serial, (history) => {
      const planted = plant(history)
      fc.pre(planted !== undefined)
      expect(typesOf(planted)).toContain(type)
    }), { numRuns: 200 })
  })
})
