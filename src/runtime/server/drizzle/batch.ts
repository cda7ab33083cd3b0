/** Sends statements through Drizzle's D1 session, as one batch. */
import type { Query } from 'drizzle-orm'
import type { BatchResult } from './major'

interface Session {
  readonly logger: { readonly logQuery: (text: string, values: unknown[]) => void }
  readonly batch: (entries: readonly object[]) => Promise<unknown[]>
}

/** An entry takes the place of a Drizzle query builder. 0.45 calls `mapResult`; 1.0 returns the result of a `run` as it is. */
export async function sendBatch(
  session: object, queries: readonly Query[], prepare: (query: Query) => unknown,
): Promise<readonly BatchResult[]> {
  const { logger } = session as Session
  const results = await (session as Session).batch(queries.map(query => ({
    _prepare() {
      logger.logQuery(query.sql, query.params)
      return { stmt: prepare(query), getQuery: () => query, executeMethod: 'run', mapResult: (result: BatchResult) => result }
    },
  })))
  return results as BatchResult[]
}
