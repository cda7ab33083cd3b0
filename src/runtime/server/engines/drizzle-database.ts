/** Types of the Drizzle members that the engines use, and the cache of prepared statements for synchronous drivers. */
import { sql } from 'drizzle-orm'
import { sessions } from '../drizzle/index'
import type { DrizzleDialect, SynchronousQuery } from '../drizzle/major'
import type { Statement } from './engine'
import { createLruCache } from './lru-cache'

/** The members that Drizzle's database object has in every dialect. */
export interface DrizzleDatabase {
  readonly dialect: DrizzleDialect
  readonly session: object
  readonly transaction: (run: (tx: DrizzleDatabase) => unknown, config?: object) => unknown
}

/**
 * The maximum number of prepared statements. Beyond it, the cache removes the least recently used one. Without a limit, a client could
 * fill the memory with different queries.
 */
const MAX_PREPARED = 1000

/** @throws When the value is not a Drizzle database. */
export function toDatabase(db: unknown): DrizzleDatabase {
  const candidate = db as Partial<DrizzleDatabase> | null
  if (!candidate?.session || typeof candidate.dialect?.sqlToQuery !== 'function') {
    throw new TypeError(
      '[auto-api] initializeDatabase(): the value is not a Drizzle database. '
      + 'Pass the return value of `drizzle(…)`, or a function that returns it.',
    )
  }
  return candidate as DrizzleDatabase
}

/**
 * Prepares each SQL text once. It uses the Drizzle session, so that the app's logger receives every query.
 * @param rewrite changes the text before it is prepared
 */
export function createStatementPreparer(
  db: DrizzleDatabase, rewrite = (text: string): string => text,
): (statement: Statement) => SynchronousQuery {
  const cache = createLruCache<SynchronousQuery>(MAX_PREPARED)
  return ({ text, values }) =>
    cache(text, () => sessions.prepareSynchronous(
      db.session, { sql: rewrite(text), params: values.map((_, index) => sql.placeholder(String(index))) },
    ))
}

/** Creates the error for a statement of the app, in `atomicWrites` or `inCommit`, that is not a query builder. */
export const notAQueryBuilder = () => new TypeError(
  '[auto-api] A statement of atomicWrites() or inCommit() is not one of Drizzle\'s query builders. '
  + 'Return the builder, without awaiting it.',
)

/** The SQL text of a query builder of the app. */
export const textOf = (query: unknown): string => (query as { readonly toSQL?: () => { readonly sql: string } }).toSQL?.().sql ?? ''
