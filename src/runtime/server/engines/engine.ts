/**
 * The interface between core and a database: run a statement, commit a list of statements.
 *
 * A write is a *list*, never a callback with awaits in it. One form fits the three ways databases commit:
 *
 * - **interactive** (Postgres, MySQL, libSQL): the statements run one after another in a transaction; an expectation
 *   that is not met throws, which rolls back.
 * - **synchronous** (better-sqlite3): its transactions cannot wait. An `async` callback would be rolled back while it
 *   continues to write outside, and awaits between `BEGIN` and `COMMIT` would mix in the statements of other requests.
 * - **batch** (D1): one `db.batch()`, which is all or nothing but cannot check a result before the end. An expectation
 *   becomes a statement that fails when the one before it changed another number of rows
 *   (`select case when changes() = n then 1 else json_extract('{}', 'no path') end`).
 *
 * A statement reads the results of an earlier one in SQL; the server generates ids such as the `deletionId` first.
 */
import type { SQL } from 'drizzle-orm'
import type { Dialect } from '../../shared/dialects'
import type { DialectAdapter } from './dialects/adapter'

/** SQL text and its values, in the order of the parameters. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

export interface WriteStatement extends Statement {
  /** The number of rows the statement must affect; otherwise nothing of the commit is applied. */
  readonly expectedRows?: number
  /** It affects all expected rows or none: alone it needs no transaction. */
  readonly atomic?: boolean
  /** The statement returns rows (`SELECT`, or `RETURNING`). */
  readonly returnsRows?: boolean
  /** Reads the written rows where a dialect has no `RETURNING`, in the same transaction. @param insertId the generated key. */
  readonly readBack?: (insertId: unknown) => Statement
  /**
   * Statements over the rows it read, in the same transaction, for rows that SQL could not find again.
   * Only where the engine has `supportsFollowUp`.
   */
  readonly followUp?: (rows: readonly Row[]) => readonly Statement[]
  /** The expectation fails because of a concurrent commit: the engine repeats the whole commit. */
  readonly retry?: boolean
}

/** A statement of the app, built with Drizzle on the database or the transaction that commits it. */
export interface BuiltStatement {
  readonly build: (db: never) => unknown
}

/** Values by position, in the order of the select list. */
export type Row = readonly unknown[]

export interface Outcome {
  readonly rows: readonly Row[]
  /** The number of rows the statement returned or changed. */
  readonly affectedRows: number
  /** Drizzle's result of a statement that the app built. */
  readonly result?: unknown
}

export type Awaitable<T> = T | Promise<T>

export interface Engine {
  readonly name: string
  readonly dialect: Dialect
  /** The SQL of the dialect. */
  readonly adapter: DialectAdapter
  /** The number of parameters one statement can have. */
  readonly maxParameters: number
  /** Other commits can run between the statements of one: rows that must not change have to be locked. */
  readonly concurrent: boolean
  /** Statements of a commit can depend on the rows that an earlier one has read. */
  readonly supportsFollowUp: boolean
  /** A statement blocks the process while it runs. */
  readonly blocking?: boolean
  /** Limits below those of the dialect: terms of a compound, bytes of a LIKE pattern. */
  readonly limits?: { readonly terms: number, readonly pattern: number }
  /** Renders Drizzle SQL in this dialect, with its parameters encoded. */
  readonly render: (sql: SQL) => Statement
  /** The column's name in the database, `casing` included. */
  readonly columnName: (column: Parameters<ColumnName>[0]) => string
  /**
   * @throws {BusyError} As `commit` does.
   * @throws {InvalidValueError} When a value does not fit the type that it is compared with.
   */
  readonly query: (statement: Statement) => Awaitable<readonly Row[]>
  /**
   * Commits all statements or none.
   * @throws {ExpectationError} When a statement affected another number of rows than expected.
   * @throws {BusyError} When concurrent commits conflicted in every attempt.
   */
  readonly commit: (statements: readonly (WriteStatement | BuiltStatement)[]) => Awaitable<readonly Outcome[]>
}

type ColumnName = (column: import('drizzle-orm').Column) => string

/** A statement of a commit affected another number of rows than expected; nothing was applied. */
export class ExpectationError extends Error {
  constructor(readonly index: number, readonly affectedRows: number) {
    super(`statement ${index} affected ${affectedRows} rows; rolled back`)
    this.name = 'ExpectationError'
  }
}

/** Concurrent commits conflicted in every attempt; nothing was applied. */
export class BusyError extends Error {
  constructor(cause: unknown) {
    super('the database is busy; rolled back', { cause })
    this.name = 'BusyError'
  }
}

/** A value of the request, or of SQL that the app wrote, does not fit the type that it is compared with. */
export class InvalidValueError extends Error {
  constructor(cause: unknown) {
    super('a value does not fit the type that it is compared with', { cause })
    this.name = 'InvalidValueError'
  }
}
