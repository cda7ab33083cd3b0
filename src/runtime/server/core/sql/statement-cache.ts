/** The cache of statements by key. */
import { createLruCache } from '../../engines/lru-cache'

/** The text of a statement, and what its builder needs to decode the result. */
export interface Compiled<Extra> {
  readonly text: string
  readonly extra: Extra
}

export type StatementCache = (key: string, create: () => Compiled<unknown>) => Compiled<unknown>

/** Further statements replace the oldest: a client that sends many queries cannot fill the memory. */
const MAX_STATEMENTS = 2000

export function createStatementCache(): StatementCache {
  return createLruCache<Compiled<unknown>>(MAX_STATEMENTS)
}
