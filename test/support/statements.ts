/** A cache of statements that trusts no key: every hit is built once more, and must have the text that was kept. */
import type { Compiled, StatementCache } from '../../src/runtime/server/core/sql/statement-cache'

export interface CheckingCache extends StatementCache {
  /** Texts by key. */
  readonly texts: ReadonlyMap<string, string>
}

/** Every collision since the process began: a request may hide what it threw. */
export const collisions: string[] = []

/** @throws From the request that finds another statement's text under its key. */
export function createCheckingCache(): CheckingCache {
  const known = new Map<string, Compiled<unknown>>()
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
