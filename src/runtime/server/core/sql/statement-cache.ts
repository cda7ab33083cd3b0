/** The cache of statements by key. */
import { createLruCache } from '../../engines/lru-cache'

/** The text of a statement, and the data that its caller needs, for example to decode the result. */
export interface Compiled<Extra> {
  readonly text: string
  readonly extra: Extra
}

export type StatementCache = (key: string, create: () => Compiled<unknown>) => Compiled<unknown>

/** Limits the memory, even if a client sends many different queries. A full cache drops a statement for each new one. */
const MAX_STATEMENTS = 2000

export function createStatementCache(): StatementCache {
  return createLruCache<Compiled<unknown>>(MAX_STATEMENTS)
}
