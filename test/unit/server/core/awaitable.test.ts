/** Steps that wait only if they have to: the same results at once and with promises, in order, with errors in their place. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { andThen, attempt, inTurn, wrapPromise, type Awaitable } from '../../../../src/runtime/server/core/awaitable'
import { memoized, memoizedPair } from '../../../../src/runtime/server/core/memoized'

/** Something that runs when it is awaited, such as a query of Drizzle. */
const thenable = <T>(value: T) => ({ then: (resolve: (value: T) => void) => resolve(value) }) as PromiseLike<T>

describe('inTurn', () => {
  const step = fc.record({ add: fc.integer(), waits: fc.constantFrom('no', 'promise', 'thenable'), fails: fc.boolean() })

  it('passes each result to the next step and stops at the first error, whichever steps return promises', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
      const seen: number[] = []
      const run = () => inTurn(steps, ({ add, waits, fails }, sum: number): Awaitable<number> => {
        seen.push(sum)
        if (fails && waits === 'no') throw new Error(`at ${add}`)
        if (fails) return Promise.reject(new Error(`at ${add}`))
        return waits === 'no' ? sum + add : waits === 'promise' ? Promise.resolve(sum + add) : thenable(sum + add) as Promise<number>
      }, 1)
      const failing = steps.findIndex(({ fails }) => fails)
      const ran = failing === -1 ? steps : steps.slice(0, failing)
      const sums = ran.reduce((all, { add }) => [...all, all.at(-1)! + add], [1])
      const result = await attempt<number | Error>(run, error => error as Error)
      expect(result).toEqual(failing === -1 ? sums.at(-1) : new Error(`at ${steps[failing]!.add}`))
      expect(seen).toEqual(failing === -1 ? sums.slice(0, -1) : sums)
    }))
  })

  it('returns no promise if no step does', () => {
    expect(inTurn([1, 2, 3], (item, sum: number) => sum + item, 0)).toBe(6)
    expect(inTurn([], () => {})).toBeUndefined()
  })
})

describe('andThen, attempt and wrapPromise', () => {
  it('act at once on a value, and later on a promise or a query', async () => {
    expect(andThen(1, value => value + 1)).toBe(2)
    expect(await andThen(thenable(1), value => value + 1)).toBe(2)
    expect(attempt(() => 1, () => 2)).toBe(1)
    const fail = (): number => {
      throw new Error('x')
    }
    expect(attempt(fail, () => 2)).toBe(2)
    expect(await attempt(() => Promise.reject(new Error('x')), () => 2)).toBe(2)
    expect(wrapPromise(1, () => Promise.resolve(2))).toBe(1)
    expect(await wrapPromise(Promise.resolve(1), async promise => await promise + 1)).toBe(2)
  })
})

describe('memoized', () => {
  it('computes a value once for each object, also if it is undefined', () => {
    const [one, two, made] = [{}, {}, [] as object[]]
    const of = memoized((owner: object) => {
      made.push(owner)
      return owner === one ? undefined : made.length
    })
    expect([of(one), of(one), of(two), of(two)]).toEqual([undefined, undefined, 2, 2])
    expect(made).toEqual([one, two])
  })

  it('computes a value once for each pair', () => {
    const [one, two] = [{}, {}]
    let count = 0
    const of = memoizedPair((_one: object, _other: object) => ++count)
    expect([of(one, two), of(two, one), of(one, two), of(one, one)]).toEqual([1, 2, 1, 3])
  })
})
