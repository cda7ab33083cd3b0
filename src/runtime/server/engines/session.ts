/** The door to Drizzle's sessions: text in, rows by position out, prepared once per text, through the app's own logger. */
import { sql, type Column, type Query, type SQL } from 'drizzle-orm'
import type { Row, Statement } from './engine'

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

/** A cache that forgets what was used longest ago. */
export function createCache<V>(max: number): (key: string, create: () => V) => V {
  const entries = new Map<string, V>()
  return (key, create) => {
    let value = entries.get(key)
    if (value !== undefined) {
      // Moving an entry to the end costs more than finding it: only a cache that is half full needs the order.
      if (entries.size > max / 2) {
        entries.delete(key)
        entries.set(key, value)
      }
      return value
    }
    value = create()
    if (entries.size >= max) entries.delete(entries.keys().next().value!)
    entries.set(key, value)
    return value
  }
}

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
  const cache = createCache<SynchronousQuery>(PREPARED_AT_MOST)
  const session = db.session as { prepareQuery: (query: Query, fields: undefined, method: 'all', arrayMode: boolean) => SynchronousQuery }
  return ({ text, values }) =>
    cache(text, () =>
      session.prepareQuery({ sql: text, params: values.map((_, index) => sql.placeholder(String(index))) }, undefined, 'all', true),
    )
}
