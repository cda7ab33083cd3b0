/** The parts of a Drizzle database that engines use, and prepared statements of its synchronous sessions. */
import { sql, type Column, type Query, type SQL } from 'drizzle-orm'
import type { Row, Statement } from './engine'
import { createLruCache } from './lru-cache'

/** The same in every dialect. */
export interface DrizzleDatabase {
  readonly dialect: {
    readonly casing: { getColumnCasing: (column: Column) => string }
    readonly sqlToQuery: (sql: SQL) => Query
  }
  readonly session: object
  readonly transaction: (run: (tx: DrizzleDatabase) => unknown, config?: object) => unknown
}

export interface SynchronousQuery {
  readonly run: (values: readonly unknown[]) => { changes: number }
  readonly values: (values: readonly unknown[]) => Row[]
}

/** Further statements replace the oldest: a client that sends many query shapes cannot fill the memory. */
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

/** Prepares each text once, through the app's own logger. */
export function createPreparer(db: DrizzleDatabase): (statement: Statement) => SynchronousQuery {
  const cache = createLruCache<SynchronousQuery>(MAX_PREPARED)
  const session = db.session as { prepareQuery: (query: Query, fields: undefined, method: 'all', arrayMode: boolean) => SynchronousQuery }
  return ({ text, values }) =>
    cache(text, () =>
      session.prepareQuery({ sql: text, params: values.map((_, index) => sql.placeholder(String(index))) }, undefined, 'all', true),
    )
}

/** The error for a statement of the app that is not a query builder. */
export const notABuilder = () => new TypeError(
  '[auto-api] atomicWrites(): a statement is not one of Drizzle\'s query builders. Return the builder, without awaiting it.',
)
