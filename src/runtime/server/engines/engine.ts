/**
 * The interface to a database. An engine runs one statement (`query`), or commits a list of statements (`commit`).
 *
 * A write is a list of statements, never an async callback. A list fits the three mechanisms with which databases commit:
 *
 * - **interactive** (Postgres, MySQL, libSQL): The engine runs the statements one after another in a transaction. If an
 *   expectation is not met, the engine throws and the transaction rolls back.
 * - **synchronous** (better-sqlite3): A transaction cannot wait for a promise. The driver would roll back an `async` callback,
 *   and the callback would continue to write outside of the transaction. With an `await` between `BEGIN` and `COMMIT`, statements
 *   of other requests would run inside the transaction.
 * - **batch** (D1): The engine sends one `db.batch()`. D1 applies all statements or none, but JavaScript cannot check a result
 *   before the end. The engine turns an expectation into a statement that fails if the statement before it changed another
 *   number of rows (`select case when changes() = n then 1 else json_extract('{}', 'no path') end`).
 *
 * A statement can only use the results of an earlier statement in SQL. Therefore the server generates ids, such as the
 * `deletionId`, before the commit.
 */
import type { Awaitable } from '../../shared/awaitable'
import type { SQL } from 'drizzle-orm'
import type { Dialect } from '../../shared/dialects'
import type { DialectAdapter } from './dialects/adapter'

/**
 * A value of a statement that an earlier statement of the same commit decides, such as a key that the database generates. Requires an
 * engine with `supportsFollowUp`.
 */
export class LateValue {
  /** The driver value, when the earlier statement has run. A repeated commit sets it again. */
  current: unknown
}

/** SQL text and its values, in the order of the parameters. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  /** Whether {@link LateValue}s are among the values. */
  readonly late?: true
  /** A synchronous driver stops reading after rows of this size. Then `query` throws {@link TooLargeResult}. */
  readonly maxBytes?: number
}

export interface WriteStatement extends Statement {
  /** The number of rows that the statement must affect. If it affects another number, the whole commit rolls back. */
  readonly expectedRows?: number
  /** The statement affects all expected rows or none. If it is the only one of a commit, it needs no transaction. */
  readonly atomic?: boolean
  /** The statement returns rows (`SELECT`, or `RETURNING`). */
  readonly returnsRows?: boolean
  /**
   * Reads the written rows in the same transaction, if the dialect has no `RETURNING`.
   * @param insertId the generated key
   */
  readonly readBack?: (insertId: unknown) => Statement
  /**
   * Creates further statements from the rows that this statement returned. They run in the same transaction. Writes use it if
   * a later SQL statement could not find the same rows again. Requires an engine with `supportsFollowUp`.
   */
  readonly followUp?: (rows: readonly Row[]) => readonly Statement[]
  /**
   * Creates statements that write the rows which this statement locks, and write them back. They run if the database is a cluster in which
   * a lock holds on one server only, after the statement has met its expectation. See `DialectAdapter.cluster`.
   */
  readonly certify?: (rows: readonly Row[]) => readonly Statement[]
  /** If the expectation is not met, the cause is a concurrent commit, and the engine repeats the whole commit. */
  readonly retry?: boolean
  /** Sets the late values of later statements. Requires an engine with `supportsFollowUp`. */
  readonly onOutcome?: (outcome: Outcome) => void
}

/** Replaces late values by what they are now. */
export function withCurrentValues<S extends Statement>(statement: S): S {
  if (!statement.late) return statement
  return { ...statement, values: statement.values.map(value => value instanceof LateValue ? value.current : value) }
}

/** A statement that the app builds with Drizzle. The engine passes the database or the transaction that commits it. */
export interface BuiltStatement {
  readonly build: (db: never) => unknown
}

/**
 * Statements that the engine creates from the outcomes of all earlier entries of the commit. They run in the same transaction. The
 * outcome contains the rows of all statements. Requires an engine with `supportsFollowUp`. A retry of the commit creates them again.
 */
export interface DerivedStatements {
  readonly derive: (outcomes: readonly Outcome[]) => readonly WriteStatement[]
}

/** An entry of a commit. */
export type CommitEntry = WriteStatement | BuiltStatement | DerivedStatements

/** The values of a row, in the order of the select list. */
export type Row = readonly unknown[]

/** The size of the values of a row in memory, approximately. */
export function bytesOf(row: Row): number {
  let bytes = 0
  for (const value of row) bytes += typeof value === 'string' ? value.length : value instanceof Uint8Array ? value.byteLength : 8
  return bytes
}

/** The rows of a statement exceed its `maxBytes`. */
export class TooLargeResult extends Error {}

export interface Outcome {
  readonly rows: readonly Row[]
  /** The number of rows the statement returned or changed. */
  readonly affectedRows: number
  /** Drizzle's result, if the app built the statement. */
  readonly result?: unknown
}

/** The outcome of statements that are one entry of a commit. */
export const joinOutcomes = (outcomes: readonly Outcome[]): Outcome => ({
  rows: outcomes.flatMap(({ rows }) => rows),
  affectedRows: outcomes.reduce((sum, { affectedRows }) => sum + affectedRows, 0),
})

export type { Awaitable } from '../../shared/awaitable'

export interface Engine {
  readonly name: string
  readonly dialect: Dialect
  /** The SQL of the dialect. */
  readonly adapter: DialectAdapter
  /** The maximum number of parameters of one statement. */
  readonly maxParameters: number
  /** Whether other commits can run between the statements of one commit. If so, a commit locks the rows that must not change. */
  readonly concurrent: boolean
  /** Whether `followUp` and `derive` can create statements from the rows that earlier statements of the commit returned. */
  readonly supportsFollowUp: boolean
  /** Whether a statement blocks the process while it runs. */
  readonly blocking?: boolean
  /** Limits below those of the dialect: the terms of a compound SELECT, and the bytes of a LIKE pattern. */
  readonly limits?: { readonly terms: number, readonly pattern: number }
  /** Renders Drizzle SQL in this dialect, and encodes its parameters. */
  readonly render: (sql: SQL) => Statement
  /** The column's name in the database, after Drizzle applied its `casing` option. */
  readonly columnName: (column: Parameters<ColumnName>[0]) => string
  /**
   * @throws {BusyError} When the database was busy in every attempt.
   * @throws {InvalidValueError} When a value does not fit the type that it is compared with.
   * @throws {TooComplexError} When the database does not accept the depth of the statement.
   */
  readonly query: (statement: Statement) => Awaitable<readonly Row[]>
  /**
   * Commits all statements or none.
   * @throws {ExpectationError} When a statement affected another number of rows than expected.
   * @throws {BusyError} When concurrent commits conflicted in every attempt.
   */
  readonly commit: (entries: readonly CommitEntry[]) => Awaitable<readonly Outcome[]>
}

type ColumnName = (column: import('drizzle-orm').Column) => string

/** A statement of a commit affected another number of rows than expected. The database applied nothing of the commit. */
export class ExpectationError extends Error {
  constructor(readonly index: number, readonly affectedRows: number) {
    super(`statement ${index} affected ${affectedRows} rows; rolled back`)
    this.name = 'ExpectationError'
  }
}

/** Concurrent commits conflicted in every attempt. The database applied nothing of the commit. */
export class BusyError extends Error {
  constructor(cause: unknown) {
    super('the database is busy; rolled back', { cause })
    this.name = 'BusyError'
  }
}

/** A value does not fit the type that it is compared with. The request or the app's SQL contains the value. */
export class InvalidValueError extends Error {
  constructor(cause: unknown) {
    super('a value does not fit the type that it is compared with', { cause })
    this.name = 'InvalidValueError'
  }
}

/** The database does not accept a statement that is nested so deeply. The request or the app's SQL contains the conditions. */
export class TooComplexError extends Error {
  constructor(cause: unknown) {
    super('the statement is nested too deeply for the database', { cause })
    this.name = 'TooComplexError'
  }
}
