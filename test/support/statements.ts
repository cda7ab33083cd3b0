/** A statement cache that checks its keys: it builds every hit again and compares the text with the cached one. */
import type { Compiled, StatementCache } from '../../src/runtime/server/core/sql/statement-cache'

export interface CheckingCache extends StatementCache {
  /** SQL texts by key. */
  readonly texts: ReadonlyMap<string, string>
}

/** Every collision since the process began: a request can hide the error. */
export const collisions: string[] = []

/** @throws In the request that finds the text of another statement under its key. */
export function createCheckingCache(): CheckingCache {
  const known = new Map<string, Compiled>()
  const texts = new Map<string, string>()
  const cache: StatementCache = (key, create) => {
    const made = create()
    const first = known.get(key)
    if (first && first.text !== made.text) {
      collisions.push(`Two statements have the key ${key}:\n${first.text}\n${made.text}`)
      throw new Error(collisions.at(-1))
    }
    if (!first) known.set(key, made)
    texts.set(key, made.text)
    return first ?? made
  }
  return Object.assign(cache, { texts })
}
