/** Pseudo-random numbers from a fixed seed, so that the rows are the same on every machine and in every run. */
export interface Random {
  /** An integer from 0 to `end - 1`. */
  below: (end: number) => number
  pick: <T>(list: readonly T[]) => T
}

/** Marsaglia's xorshift with 32 bits. */
export function createRandom(seed: number): Random {
  let state = seed | 0 || 1
  const below = (end: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % end
  }
  return { below, pick: list => list[below(list.length)]! }
}
