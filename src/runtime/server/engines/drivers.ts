/** Runs SQL text on Drizzle's asynchronous sessions, of a database or of a transaction. Each row is an array of values. */
import type { Query } from 'drizzle-orm'
import { sessions } from '../drizzle/index'
import { isScalar } from './driver-scalar'
import type { Row, Statement } from './engine'
import { createReadWriteLock, NO_LOCK, type ReadWriteLock } from './read-write-lock'
import type { DrizzleDatabase } from './drizzle-database'
import { bound } from './bound-member'
import { withDateStrings } from './date-strings'
import { transactionOfPool } from './pool-transaction'

/** The result of a statement that returns no rows. */
export interface RunResult {
  readonly affectedRows: number
  readonly insertId?: unknown
}

export interface Driver {
  readonly rows: (db: DrizzleDatabase, statement: Statement) => Promise<readonly Row[]>
  /** Returns the database that reads outside of transactions use. @default the database itself */
  readonly reader?: (db: DrizzleDatabase) => DrizzleDatabase
  /** Like `rows`, by a prepared statement with a name. */
  readonly named?: (db: DrizzleDatabase, statement: Statement, name: string) => Promise<readonly Row[]>
  readonly run: (db: DrizzleDatabase, statement: Statement) => Promise<RunResult>
  readonly transaction: <T>(db: DrizzleDatabase, run: Transaction<T>) => Promise<T>
  /** Separates the transactions of requests that share one connection. */
  readonly lock: (db: DrizzleDatabase) => ReadWriteLock
  /** See `Engine.concurrent`. */
  readonly concurrent: boolean
  /** See `Engine.blocking`. */
  readonly blocking: (db: DrizzleDatabase) => boolean
}

type Transaction<T> = (tx: DrizzleDatabase) => Promise<T>
interface Session {
  readonly client?: object
  readonly transaction: <T>(run: Transaction<T>, config?: object) => Promise<T>
}

const sessionOf = (db: DrizzleDatabase) => db.session as Session
const asQuery = ({ text, values }: Statement): Query => ({ sql: text, params: [...values] })
/** Runs a transaction in which each statement reads the latest committed rows. */
const readCommitted = <T>(db: DrizzleDatabase, run: Transaction<T>) =>
  db.transaction(run, { isolationLevel: 'read committed' }) as Promise<T>

/** node-postgres, postgres.js, PGlite and Neon. */
const postgres: Driver = {
  rows: ({ session }, statement) => sessions.pg.rows(session, asQuery(statement)),
  named: ({ session }, statement, name) => sessions.pg.named(session, asQuery(statement), name),
  run: async ({ session }, statement) => {
    const { rowCount, count, affectedRows } = await sessions.pg.run(session, asQuery(statement)) as {
      rowCount?: number | null
      count?: number | null
      affectedRows?: number
    }
    return { affectedRows: rowCount ?? count ?? affectedRows ?? 0 }
  },
  transaction: readCommitted,
  lock: db => isSingle(db, 'connect', 'totalCount') ? createReadWriteLock() : NO_LOCK,
  concurrent: true,
  blocking: () => false,
}

/**
 * Refuses objects as parameters, also in SQL that the app wrote. MySQL drivers write the values into the SQL text, and older versions
 * write an object as `key = value`.
 */
function withScalars(statement: Statement): Query {
  const invalid = statement.values.findIndex(value => value !== null && !isScalar(value))
  if (invalid === -1) return asQuery(statement)
  throw new TypeError(`[auto-api] Parameter ${invalid + 1} must be text, a number, a boolean, a date or bytes: ${statement.text}`)
}

/** mysql2 and PlanetScale. */
const mysql: Driver = {
  rows: ({ session }, statement) => sessions.mysql.rows(session, withScalars(statement)),
  reader: withDateStrings,
  run: async ({ session }, statement) => {
    const result = await sessions.mysql.run(session, withScalars(statement))
    const { affectedRows, rowsAffected, insertId } = (Array.isArray(result) ? result[0] : result) as {
      affectedRows?: number
      rowsAffected?: number
      insertId?: unknown
    }
    return { affectedRows: affectedRows ?? rowsAffected ?? 0, insertId }
  },
  transaction: (db, run) => transactionOfPool(sessionOf(db), run) ?? readCommitted(db, run),
  lock: db => isSingle(db, 'beginTransaction', 'getConnection') ? createReadWriteLock() : NO_LOCK,
  concurrent: true,
  blocking: () => false,
}

interface LibsqlTransaction {
  readonly executeMultiple: (text: string) => Promise<void>
  readonly close: () => void
  commit: () => Promise<void>
}
interface LibsqlClient { readonly protocol?: string, readonly transaction: (mode: 'deferred') => Promise<LibsqlTransaction> }

const isFile = (db: DrizzleDatabase) => (sessionOf(db).client as LibsqlClient | undefined)?.protocol === 'file'

const FOREIGN_KEYS = 'pragma foreign_keys = on'

/**
 * Creates a session for a database file. Its transactions begin and end with scripts instead of the driver's own statements.
 * If another process writes, the driver's `begin immediate` fails but stays unfinished on the connection. After that, no transaction on
 * this connection can commit. If a deferred constraint is violated, the driver's `commit` fails and stays unfinished in the same way.
 */
function sessionOfFile(db: DrizzleDatabase, client: LibsqlClient): Session {
  const begin = async () => {
    const transaction = await client.transaction('deferred')
    try {
      await transaction.executeMultiple(`rollback; ${FOREIGN_KEYS}; begin immediate`)
      transaction.commit = async () => {
        await transaction.executeMultiple('commit')
        transaction.close()
      }
      return transaction
    }
    catch (error) {
      transaction.close()
      throw error
    }
  }
  const proxy = new Proxy(client, { get: (target, name) => name === 'transaction' ? begin : bound(target, name) })
  return Object.create(sessionOf(db), { client: { value: proxy } }) as Session
}

const libsql: Driver = {
  rows: async ({ session }, statement) => (await sessions.sqlite.rows(session, asQuery(statement))).map(toRow),
  run: async ({ session }, statement) => {
    const { rowsAffected } = await sessions.sqlite.run(session, asQuery(statement)) as { rowsAffected: number }
    return { affectedRows: rowsAffected }
  },
  async transaction(db, run) {
    const { client } = sessionOf(db) as { client?: LibsqlClient }
    if (client && isFile(db)) return await sessionOfFile(db, client).transaction(run)
    await libsql.run(db, { text: FOREIGN_KEYS, values: [] })
    return await db.transaction(run) as Awaited<ReturnType<typeof run>>
  },
  // A file accepts one writer at a time. A database in memory has only one connection.
  lock: db => isFile(db) ? createReadWriteLock() : NO_LOCK,
  // After `begin immediate`, a file or a libSQL server accepts no other writer until the commit.
  concurrent: false,
  // libSQL's client reads a file in the calling thread.
  blocking: isFile,
}

export const DRIVERS = { pg: postgres, mysql, sqlite: libsql } as const

/** Whether the client is a single connection, which requests share. A connection and a pool have different methods. */
function isSingle(db: DrizzleDatabase, single: string, pool: string): boolean {
  const client = sessionOf(db).client
  return client !== undefined && single in client && !(pool in client)
}

/** Converts a libSQL row to an array. libSQL returns an object with numbered properties, and each blob as an `ArrayBuffer`. */
function toRow(row: Row): Row {
  return Array.from(row, value => value instanceof ArrayBuffer ? globalThis.Buffer.from(value) : value)
}
