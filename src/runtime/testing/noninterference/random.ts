/** Pseudo-random choices from a seed, so that a failed run can be repeated. */

export interface Random {
  /** An integer from 0 to `end - 1`. */
  readonly below: (end: number) => number
  /** Whether an event with this probability happens. */
  readonly chance: (probability: number) => boolean
  /** @throws When the list is empty. */
  readonly pick: <T>(list: readonly T[]) => T
  /** Up to `most` different elements, in a random order. */
  readonly some: <T>(list: readonly T[], most: number) => T[]
  /** An element of a list of pairs of weight and element. */
  readonly weighted: <T>(list: readonly (readonly [weight: number, value: T])[]) => T
}

/** Mulberry32, with 32 bits of state. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6D2B79F5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  const pick: Random['pick'] = (list) => {
    if (list.length === 0) throw new TypeError('The list is empty.')
    return list[below(list.length)]!
  }
  return {
    below,
    pick,
    chance: probability => next() < probability,
    some(list, most) {
      const rest = [...list]
      const count = Math.min(rest.length, below(most + 1))
      return Array.from({ length: count }, () => rest.splice(below(rest.length), 1)[0]!)
    },
    weighted(list) {
      let left = next() * list.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, value] of list) {
        left -= weight
        if (left < 0) return value
      }
      return list.at(-1)![1]
    },
  }
}
