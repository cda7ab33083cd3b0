/** What differs between the major versions of Drizzle. Each major has one file that implements this interface. */
import type { Column, Query, SQL, StringChunk, Table } from 'drizzle-orm'
import type { Kind } from '../../shared/wire'

export interface DrizzleMajor {
  readonly columns: Columns
  readonly sessions: Sessions
  readonly schemas: Schemas
  /** The text of a piece of SQL without parameters. */
  readonly textOf: (chunk: StringChunk) => string
}

/** Reads columns. The names of column types are those of Drizzle 0.45, such as `PgTimestamp` or `PgArray`. */
export interface Columns {
  readonly typeOf: (column: Column) => string
  readonly kindOf: (column: Column) => Kind
  /** The type in the database, such as `integer[]`. */
  readonly sqlTypeOf: (column: Column) => string
  readonly tableOf: (column: Column) => Table
  /** The elements of a Postgres array. Absent for other columns. */
  readonly elementsOf: (column: Column) => Elements | undefined
  /** Converts a driver value (never null) to the Drizzle value. Absent if both are the same. */
  readonly decoderOf: (column: Column) => ((raw: unknown) => unknown) | undefined
  /** Converts a Drizzle value (never null) to the driver value. */
  readonly encode: (column: Column, value: unknown) => unknown
  /** Whether the dialect converts a parameter after {@link encode}, or adds a cast to the SQL. */
  readonly isConvertedByDialect: (column: Column) => boolean
  /** The name in the database, after Drizzle applied its `casing` option. */
  readonly nameOf: (dialect: DrizzleDialect, column: Column) => string
}

export interface Elements {
  readonly type: string
  readonly kind: Kind
  readonly column: Column
  /** The number of dimensions, at least 1. */
  readonly depth: number
}

/** The members of Drizzle's dialect object that the engines use. */
export interface DrizzleDialect {
  readonly sqlToQuery: (sql: SQL) => Query
}

type Rows = readonly (readonly unknown[])[]

/** A statement that a synchronous driver has prepared. Its values are given by the names `0`, `1`, … */
export interface SynchronousQuery {
  readonly run: (values: readonly unknown[]) => { readonly changes: number }
  readonly values: (values: readonly unknown[]) => Rows
}

/** What D1 returns for one statement of a batch. */
export interface BatchResult {
  readonly results: readonly Readonly<Record<string, unknown>>[]
  readonly meta: { readonly changes: number }
}

/** A prepared statement of a Drizzle query builder, for a batch. */
export interface BuiltQuery {
  readonly query: Query
  /** Converts the result of the batch to the result of the query builder. */
  readonly toResult: (result: BatchResult) => unknown
}

/**
 * Runs statements on the sessions of Drizzle's drivers, so that the app's logger receives them. `rows` returns each row as an array of
 * driver values; `run` returns the result of the driver.
 */
export interface Sessions {
  readonly pg: AsyncSession & {
    /** Runs a prepared statement with a name. */
    readonly named: (session: object, query: Query, name: string) => Promise<Rows>
  }
  readonly mysql: AsyncSession
  readonly sqlite: AsyncSession
  /** Prepares a statement of a synchronous driver. The parameters of the query are placeholders. */
  readonly prepareSynchronous: (session: object, query: Query) => SynchronousQuery
  readonly batch: BatchSession
}

export interface AsyncSession {
  readonly rows: (session: object, query: Query) => Promise<Rows>
  readonly run: (session: object, query: Query) => Promise<unknown>
}

export interface BatchSession {
  readonly rows: (session: object, query: Query) => Promise<Rows>
  /** Sends all statements as one batch. */
  readonly commit: (session: object, queries: readonly Query[]) => Promise<readonly BatchResult[]>
  /** Returns `undefined` if the value is not a query builder. */
  readonly toBuiltQuery: (builder: unknown) => BuiltQuery | undefined
}

/** Creates Zod schemas of a table. `refinements` replaces the schemas of single columns. */
export interface Schemas {
  readonly insert: (table: Table, refinements: object) => unknown
  readonly update: (table: Table, refinements: object) => unknown
  readonly select: (table: Table, refinements: object) => unknown
}
