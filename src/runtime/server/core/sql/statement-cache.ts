/** Statements by key: what is built once is found ever after. */
import { createLruCache } from '../../engines/lru-cache'

/** Compiled once per key: the text and whatever its answer is decoded with. */
export interface Compiled<Extra> {
  readonly text: string
  readonly extra: Extra
}

export type StatementCache = (key: string, create: () => Compiled<unknown>) => Compiled<unknown>

/** Statements beyond this many are built again: a client that invents queries cannot fill the memory. */
const STATEMENTS_AT_MOST = 2000

export function createStatementCache(): StatementCache {
  return createLruCache<Compiled<unknown>>(STATEMENTS_AT_MOST)
}
