/** Checks at startup that a Drizzle database fits the engine it is registered as. */
import { entityKind } from 'drizzle-orm'
import type { Dialect } from '../../shared/dialects'
import type { DrizzleDatabase } from './drizzle-database'

/** The way an engine commits its statements. `engine.ts` describes the three mechanisms. */
export type Mechanism = 'synchronous' | 'batch' | 'interactive'

interface DriverRow {
  /** The module that exports `drizzle`: `drizzle-orm/<from>`. */
  readonly from: string
  readonly mechanism: Mechanism
  readonly dialect: Dialect
  /** The engine name that the app must pass to `initializeDatabase()`. */
  readonly engine: string
}

/** The known drivers, by the name of their Drizzle session class. `assertDriver` checks only the dialect of other drivers. */
const DRIVERS: Readonly<Record<string, DriverRow>> = {
  BetterSQLiteSession: { from: 'better-sqlite3', mechanism: 'synchronous', dialect: 'sqlite', engine: 'better-sqlite3' },
  LibSQLSession: { from: 'libsql', mechanism: 'interactive', dialect: 'sqlite', engine: 'libsql' },
  SQLiteD1Session: { from: 'd1', mechanism: 'batch', dialect: 'sqlite', engine: 'd1' },
  NodePgSession: { from: 'node-postgres', mechanism: 'interactive', dialect: 'pg', engine: 'postgres' },
  PostgresJsSession: { from: 'postgres-js', mechanism: 'interactive', dialect: 'pg', engine: 'postgres' },
  PgliteSession: { from: 'pglite', mechanism: 'interactive', dialect: 'pg', engine: 'postgres' },
  NeonSession: { from: 'neon-serverless', mechanism: 'interactive', dialect: 'pg', engine: 'neon' },
  MySql2Session: { from: 'mysql2', mechanism: 'interactive', dialect: 'mysql', engine: 'mysql' },
  PlanetscaleSession: { from: 'planetscale-serverless', mechanism: 'interactive', dialect: 'mysql', engine: 'planetscale' },
}

/** The dialects, by the name of their Drizzle dialect class. */
const DIALECT_NAMES: Readonly<Record<string, { readonly dialect: Dialect, readonly what: string }>> = {
  SQLiteSyncDialect: { dialect: 'sqlite', what: 'a SQLite database' },
  SQLiteAsyncDialect: { dialect: 'sqlite', what: 'a SQLite database' },
  PgDialect: { dialect: 'pg', what: 'a Postgres database' },
  MySqlDialect: { dialect: 'mysql', what: 'a MySQL database' },
}

const ALL_OR_NOTHING = 'has no transactions, which writes require. Use'

/** The error message if the app passes a Neon HTTP database, or the engine name `neon-http`. */
export const NEON_HTTP = `drizzle-orm/neon-http ${ALL_OR_NOTHING} drizzle-orm/neon-serverless (Neon over WebSockets) as 'neon', `
  + 'or drizzle-orm/node-postgres or drizzle-orm/postgres-js as \'postgres\'.'

/** The error messages for drivers without transactions, by the name of their Drizzle session class. */
const WITHOUT_TRANSACTIONS: Readonly<Record<string, string>> = {
  NeonHttpSession: NEON_HTTP,
  XataHttpSession: `drizzle-orm/xata-http ${ALL_OR_NOTHING} drizzle-orm/node-postgres as 'postgres'.`,
  PgRemoteSession: `drizzle-orm/pg-proxy ${ALL_OR_NOTHING} the driver of the database itself.`,
  MySqlRemoteSession: `drizzle-orm/mysql-proxy ${ALL_OR_NOTHING} the driver of the database itself.`,
}

const kindOf = (value: object): string => String((value.constructor as unknown as Record<symbol, unknown>)[entityKind])

/** Whether the API can name the prepared statements of the driver. */
export const canPrepare = (db: DrizzleDatabase): boolean => kindOf(db.session) === 'NodePgSession'

/** @throws When the driver has no transactions, or when it belongs to another engine. */
export function assertDriver(
  name: string,
  engine: { readonly dialect: Dialect, readonly mechanism: Mechanism },
  db: DrizzleDatabase,
): void {
  const session = kindOf(db.session)
  const refused = WITHOUT_TRANSACTIONS[session]
  if (refused !== undefined) throw new TypeError(`[auto-api] initializeDatabase(): ${refused}`)
  const driver = DRIVERS[session]
  if (driver && (driver.dialect !== engine.dialect || driver.mechanism !== engine.mechanism)) {
    throw new TypeError(
      `[auto-api] initializeDatabase(db, '${name}'): the database uses drizzle-orm/${driver.from}. Pass '${driver.engine}' as the engine.`,
    )
  }
  const known = DIALECT_NAMES[kindOf(db.dialect)]
  if (known && known.dialect !== engine.dialect) {
    throw new TypeError(`[auto-api] initializeDatabase(db, '${name}'): the database is ${known.what}. Pass the engine of its driver.`)
  }
}
