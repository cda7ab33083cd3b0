/** The door to Drizzle's asynchronous sessions: text in, rows by position out, on the session of a database or of a transaction. */
import type { Query } from 'drizzle-orm'
import type { Row, Statement } from './engine'
import { createLock, UNLOCKED, type Lock } from './lock'
import type { DrizzleDatabase } from './session'

/** What a statement that answers no rows says of itself. */
export interface Done {
  readonly touched: number
  readonly insertId?: unknown
}

export interface Driver {
  readonly rows: (db: DrizzleDatabase, statement: Statement) => Promise<readonly Row[]>
  readonly run: (db: DrizzleDatabase, statement: Statement) => Promise<Done>
  /** How transactions begin. */
  readonly begin?: object
  /** Sent before a transaction, on the connection it will have. */
  readonly prelude?: string
  /** Keeps requests apart that share one connection. */
  readonly lock: (db: DrizzleDatabase) => Lock
}

type Rows = readonly Row[]
interface Prepared { readonly execute: () => Promise<unknown>, readonly run: () => Promise<unknown>, readonly values: () => Promise<Rows> }
interface Session { readonly client?: object, readonly prepareQuery: (query: Query, ...rest: unknown[]) => Prepared }

const sessionOf = (db: DrizzleDatabase) => db.session as Session
const asQuery = ({ text, values }: Statement): Query => ({ sql: text, params: [...values] })
const asTheyAre = (rows: unknown) => rows

/** node-postgres, postgres.js, PGlite, Neon: a mapper of our own is what makes their sessions answer rows by position. */
const postgres: Driver = {
  rows: (db, statement) => sessionOf(db).prepareQuery(asQuery(statement), undefined, undefined, true, asTheyAre).execute() as Promise<Rows>,
  run: async (db, statement) => {
    const { rowCount, count, affectedRows } = await sessionOf(db).prepareQuery(asQuery(statement), undefined, undefined, false).execute() as { rowCount?: number | null, count?: number | null, affectedRows?: number }
    return { touched: rowCount ?? count ?? affectedRows ?? 0 }
  },
  begin: { isolationLevel: 'read committed' },
  lock: db => isSingle(db, 'connect', 'totalCount') ? createLock() : UNLOCKED,
}

/** mysql2 and PlanetScale; each statement sees what others have committed by then, as on Postgres. */
const mysql: Driver = {
  rows: (db, statement) => sessionOf(db).prepareQuery(asQuery(statement), undefined, asTheyAre).execute() as Promise<Rows>,
  run: async (db, statement) => {
    const result = await sessionOf(db).prepareQuery(asQuery(statement), undefined).execute()
    const { affectedRows, rowsAffected, insertId } = (Array.isArray(result) ? result[0] : result) as { affectedRows?: number, rowsAffected?: number, insertId?: unknown }
    return { touched: affectedRows ?? rowsAffected ?? 0, insertId }
  },
  begin: { isolationLevel: 'read committed' },
  lock: db => isSingle(db, 'beginTransaction', 'getConnection') ? createLock() : UNLOCKED,
}

const libsql: Driver = {
  rows: async (db, statement) => (await sessionOf(db).prepareQuery(asQuery(statement), undefined, 'all', true).values()).map(toRow),
  run: async (db, statement) => {
    const { rowsAffected } = await sessionOf(db).prepareQuery(asQuery(statement), undefined, 'run', false).run() as { rowsAffected: number }
    return { touched: rowsAffected }
  },
  prelude: 'pragma foreign_keys = on',
  // A file has one writer at a time, and a database in memory one connection.
  lock: db => (sessionOf(db).client as { protocol?: string } | undefined)?.protocol === 'file' ? createLock() : UNLOCKED,
}

export const DRIVERS = { pg: postgres, mysql, sqlite: libsql } as const

/** One connection for all: told from a pool by what only one of them can do. */
function isSingle(db: DrizzleDatabase, single: string, pool: string): boolean {
  const client = sessionOf(db).client
  return client !== undefined && single in client && !(pool in client)
}

/** libSQL's rows are objects with numbered properties; its blobs are not Node's. */
function toRow(row: Row): Row {
  return Array.from(row, value => value instanceof ArrayBuffer ? globalThis.Buffer.from(value) : value)
}
