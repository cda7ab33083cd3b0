/**
 * What the core asks of a database: run a statement, commit a list of statements.
 *
 * A write is a *list*, never a callback with awaits in it. That one shape fits the three ways databases commit:
 *
 * - **interactive** (Postgres, MySQL, libSQL): the statements run one after another in a transaction; a guard that
 *   fails throws, which rolls back.
 * - **synchronous** (better-sqlite3): its transactions cannot wait. An `async` callback would be rolled back while it
 *   goes on writing outside, and `BEGIN`/`COMMIT` with awaits between lets other requests in. A list needs no await.
 * - **batch** (D1): one `db.batch()`, which is all-or-nothing but cannot look at a result half-way. A
 *   guard becomes a statement of its own that fails when the one before it touched too few rows
 *   (`select case when changes() = n then 1 else json_extract('{}', 'no path') end`).
 *
 * What a statement needs from an earlier one it reads in SQL: the server makes ids such as the `deletionId` first.
 */
import type { SQL } from 'drizzle-orm'
import type { Dialect } from '../../shared/dialects'
import type { DialectAdapter } from './dialects/adapter'

/** SQL text and its values, in the order of their places. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

export interface WriteStatement extends Statement {
  /** How many rows the statement must touch; otherwise nothing of the commit is applied. */
  readonly expectedRows?: number
  /** Touches as many rows as it must or none at all: alone it needs no transaction around it. */
  readonly atomic?: boolean
  /** The statement answers rows (`SELECT`, or `RETURNING`). */
  readonly returnsRows?: boolean
  /** What reads the written rows where a dialect has no `RETURNING`, in the same transaction. @param insertId the key the database made. */
  readonly readBack?: (insertId: unknown) => Statement
  /** What is done to the rows it read, in the same transaction: only where statement follows statement, and SQL could not find them again. */
  readonly followUp?: (rows: readonly Row[]) => readonly Statement[]
  /** A guard that fails because another commit came in between: all of it is done once more, from the start. */
  readonly retry?: boolean
}

/** A statement an app built with Drizzle: made over the database, or the transaction, that commits it. */
export interface BuiltStatement {
  readonly build: (db: never) => unknown
}

/** Columns by position: the statement's own select list tells which is which. */
export type Row = readonly unknown[]

export interface Outcome {
  readonly rows: readonly Row[]
  /** Rows the statement touched. */
  readonly affectedRows: number
  /** What Drizzle answered to a statement an app built. */
  readonly result?: unknown
}

export type Awaitable<T> = T | Promise<T>

export interface Engine {
  readonly name: string
  readonly dialect: Dialect
  /** The SQL of the dialect. */
  readonly adapter: DialectAdapter
  /** Parameters that one statement may have. */
  readonly maxParameters: number
  /** Other commits may come between the statements of one: rows that must stay as they are have to be locked. */
  readonly concurrent: boolean
  /** Statements of a commit may come from the rows that one of them has read. */
  readonly supportsFollowUp: boolean
  /** While a statement runs, this process does nothing else. */
  readonly blocking?: boolean
  /** What the engine takes fewer of than its dialect does: terms of a compound, bytes of a LIKE pattern. */
  readonly limits?: { readonly terms: number, readonly pattern: number }
  /** Drizzle SQL to the text of this dialect, with its parameters encoded. */
  readonly render: (sql: SQL) => Statement
  /** The column's name as it stands in the database, `casing` included. */
  readonly columnName: (column: Parameters<ColumnName>[0]) => string
  /**
   * @throws {BusyError} As `commit` does.
   * @throws {InvalidValueError} When a value is none of the type that it meets.
   */
  readonly query: (statement: Statement) => Awaitable<readonly Row[]>
  /**
   * All of it or nothing.
   * @throws {ExpectationError} When a statement touched another number of rows than it had to.
   * @throws {BusyError} When other commits stood in the way again and again.
   */
  readonly commit: (statements: readonly (WriteStatement | BuiltStatement)[]) => Awaitable<readonly Outcome[]>
}

type ColumnName = (column: import('drizzle-orm').Column) => string

/** A statement of a commit touched another number of rows than it had to; nothing was applied. */
export class ExpectationError extends Error {
  constructor(readonly index: number, readonly affectedRows: number) {
    super(`statement ${index} touched ${affectedRows} rows; rolled back`)
    this.name = 'ExpectationError'
  }
}

/** Other commits stood in the way, however often it was tried; nothing was applied. */
export class BusyError extends Error {
  constructor(cause: unknown) {
    super('the database is busy; rolled back', { cause })
    this.name = 'BusyError'
  }
}

/** A value is none of the type that it is compared with: of a request's own values, or of what an app wrote in SQL. */
export class InvalidValueError extends Error {
  constructor(cause: unknown) {
    super('a value does not fit the type that it is compared with', { cause })
    this.name = 'InvalidValueError'
  }
}
