/** Pseudo-random numbers from a fixed seed, so that the demo data are the same on every machine. */

export interface Random {
  /** An integer from `min` to `max`, both included. */
  int: (min: number, max: number) => number
  /** True in the given share of calls. */
  chance: (share: number) => boolean
  /** One entry of a list. */
  pick: <T>(list: readonly T[]) => T
  /** Distinct entries of a list, in no particular order. */
  sample: <T>(list: readonly T[], count: number) => T[]
  /** A version 4 UUID. */
  uuid: () => string
}

export function createRandom(seed: number): Random {
  const next = mulberry32(seed)
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  const pick = <T>(list: readonly T[]) => list[int(0, list.length - 1)] as T
  const hex = (digits: number) => Array.from({ length: digits }, () => int(0, 15).toString(16)).join('')

  function sample<T>(list: readonly T[], count: number): T[] {
    const rest = [...list]
    return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(int(0, rest.length - 1), 1)[0] as T)
  }

  return {
    int,
    chance: share => next() < share,
    pick,
    sample,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-${pick(['8', '9', 'a', 'b'])}${hex(3)}-${hex(12)}`,
  }
}

/** Tommy Ettinger's Mulberry32, with 32 bits of state. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6D2B79F5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
