/** The cache of statements by key. */
import { createLruCache } from '../../engines/lru-cache'

/** A statement that was rendered. It is the same object as long as the cache contains it. */
export interface Compiled {
  readonly text: string
}

export type StatementCache = (key: string, create: () => Compiled) => Compiled

/** Limits the memory, even if a client sends many different queries. A full cache drops a statement for each new one. */
const MAX_STATEMENTS = 2000

export function createStatementCache(): StatementCache {
  return createLruCache<Compiled>(MAX_STATEMENTS)
}
