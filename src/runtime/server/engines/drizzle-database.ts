/** The door to Drizzle's sessions: text in, rows by position out, prepared once per text, through the app's own logger. */
import { sql, type Column, type Query, type SQL } from 'drizzle-orm'
import type { Row, Statement } from './engine'
import { createLruCache } from './lru-cache'

/** The parts of a Drizzle database that statements run through; the same in every dialect. */
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

/** Statements beyond this many are prepared again: a client that invents query shapes cannot fill the memory. */
const PREPARED_AT_MOST = 1000

/** @throws When the value is not a Drizzle database. */
export function toDatabase(db: unknown): DrizzleDatabase {
  const candidate = db as Partial<DrizzleDatabase> | null
  if (!candidate?.session || typeof candidate.dialect?.sqlToQuery !== 'function') {
    throw new TypeError(
      '[auto-api] initializeDatabase() was given something that is not a Drizzle database. Pass what `drizzle(…)` returns, or a function that returns it.',
    )
  }
  return candidate as DrizzleDatabase
}

/** Prepared statements of a synchronous SQLite session. */
export function createPreparer(db: DrizzleDatabase): (statement: Statement) => SynchronousQuery {
  const cache = createLruCache<SynchronousQuery>(PREPARED_AT_MOST)
  const session = db.session as { prepareQuery: (query: Query, fields: undefined, method: 'all', arrayMode: boolean) => SynchronousQuery }
  return ({ text, values }) =>
    cache(text, () =>
      session.prepareQuery({ sql: text, params: values.map((_, index) => sql.placeholder(String(index))) }, undefined, 'all', true),
    )
}
