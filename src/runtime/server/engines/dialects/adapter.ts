/** The differences between SQL dialects. All other SQL has the same text in every dialect. */
import type { Column, SQL } from 'drizzle-orm'
import type { Kind } from '../../../shared/wire'
import type { Replication } from './replication'

export interface DialectAdapter {
  /** Whether a write can return its rows (`RETURNING`). If not, the engine reads them back in the same transaction. */
  readonly returning: boolean
  /** Whether NULL sorts before every value. If not, NULL sorts after every value. */
  readonly nullsLow: boolean
  /** Whether the database uses an index over `a` and `b` for `(a, b) > (?, ?)`. */
  readonly tupleComparison: boolean
  /** Whether each column of a query must have one type. If so, a query converts keys of different types to text. */
  readonly typedColumns: boolean
  /** Whether the database checks foreign keys after each row. If so, a row must be deleted before the row it references. */
  readonly checksForeignKeysByRow: boolean
  /** The statement that defers the check of all foreign keys to the end of the transaction. Absent if the dialect has none. */
  readonly deferForeignKeys?: string
  /** The statement that checks deferred constraints immediately. Absent if the dialect has none. */
  readonly checkDeferred?: string
  /** Creates a LIKE condition that ignores the case of ASCII letters. `\` escapes a wildcard in the pattern. */
  readonly like: (column: Column, pattern: SQL) => SQL
  /** The clause that locks the rows of a SELECT until the commit: other transactions cannot change the rows. */
  readonly lock: Readonly<Record<'share' | 'update', SQL>>
  /** Creates a SELECT that numbers its rows in the order in which the database finds them. */
  readonly numbered: (columns: SQL, table: SQL, number: SQL) => SQL
  /** Creates a query that counts the rows that a locking SELECT returns. */
  readonly countLocked: (rows: SQL) => SQL
  /** The end of an `insert into t` statement that sets no column. */
  readonly defaultValues: SQL
  /** Creates the list of tuples to the right of IN, without the outer parentheses. */
  readonly tuples: (list: SQL) => SQL
  /** Casts a parameter to the type of a column, for positions in which the database cannot infer the type. */
  readonly typed: (value: SQL, column: Column) => SQL
  /** Names a table in a query that has its name, which takes the place of the table in another query. */
  readonly tableItself: (table: SQL) => SQL
  /** Keeps a condition on the rows of a UNION out of its single queries, whose values have no type and no collation of a column. */
  readonly ofWholeUnion: (condition: SQL) => SQL
  /** Gives a value that was read from a column the type of this column, in a query that takes the place of the table. */
  readonly asStored: (value: SQL, column: Column) => SQL
  /** Converts a value to text, so that one column of a query can contain keys of different types. `fromText` converts it back. */
  readonly toText: (value: SQL) => SQL
  /** Converts a value of any length to text, to compare it with its earlier text. */
  readonly toLongText: (value: SQL) => SQL
  /** Converts the text from `toText` to a value of the column. */
  readonly fromText: (text: SQL, column: Column) => SQL
  /** Converts a value of one column to the type of another column. */
  readonly convert: (value: SQL, from: Column, to: Column) => SQL
  /** Compares values of a column by bytes, independent of its collation. Returns `undefined` for types without a collation. */
  readonly bytewise: (column: Column) => Bytewise | undefined
  /**
   * The parts of a key on both sides of `key in (select key …)`. Absent if the database plans EXISTS better: Postgres scans the rows of an
   * IN inside of OR once per row if they do not fit in memory. The other databases run an EXISTS inside of OR, or inside of another one,
   * once per row, and an IN only once. MariaDB also caches the result of an EXISTS by keys that only its collation considers equal.
   */
  readonly keysInSelect?: (key: SQL, bytes: Bytewise | undefined) => readonly SQL[]
  /**
   * Text that changes whenever the stored value of the column changes. Works for every type, also for types that the database cannot
   * compare, and for values that a driver rounds. Long values become a hash.
   */
  readonly fingerprint: (column: Column, kind: Kind) => SQL
  /** Compares two values. NULL equals NULL. */
  readonly same: (left: SQL, right: SQL) => SQL
  /** How to ask the planner for the number of rows of a query. Absent if the dialect has no reliable estimate. */
  readonly estimate?: {
    readonly explain: (query: SQL) => SQL
    /** Reads the first value of the result. */
    readonly read: (value: unknown) => number | undefined
  }
  /** How to compare a replica with its primary. Absent if the API does not support replicas of the dialect. */
  readonly replication?: Replication
  /** How to find out whether the database is a cluster in which a lock holds on one server only. Absent if the dialect has none. */
  readonly cluster?: {
    readonly text: string
    /** Reads the rows of the query. */
    readonly read: (rows: readonly (readonly unknown[])[]) => boolean
  }
  readonly aggregates: AggregateSql
}

/**
 * A comparison by bytes. A statement combines it with the plain comparison (`and`), because an index supports only the
 * plain comparison.
 */
export interface Bytewise {
  /** Wraps each side of the comparison: `a` becomes `a collate binary`. */
  readonly operand: (value: SQL) => SQL
  /**
   * Wraps the whole comparison on Postgres. Without it, the planner assumes that the comparison excludes more rows, and its
   * estimate of the row count is too low.
   */
  readonly condition: (condition: SQL) => SQL
}

type ColumnExpression = (column: Column, kind: Kind) => SQL

export interface AggregateSql {
  /** A sum with all its digits. `toResultValue` reads it. */
  readonly exactSum: ColumnExpression
  /** A sum in ORDER BY and HAVING. It equals the number in the response, except for the last digits of a double. */
  readonly sum: ColumnExpression
  /** An average in ORDER BY and HAVING, with the same precision as `sum`. */
  readonly average: ColumnExpression
  /** Casts a number that a driver sends as text, to compare it with a count, a sum or an average. */
  readonly number: (value: SQL) => SQL
  /** The least or the greatest value, in the form that the database can compare. */
  readonly extreme: (name: 'min' | 'max', column: Column) => SQL
  /** Converts the result of `extreme` back to a value of the column. */
  readonly fromExtreme: (extreme: SQL, column: Column) => SQL
  /** Converts a value to the form of `extreme`, to compare the two. */
  readonly comparedExtreme: (value: SQL, column: Column, kind: Kind) => SQL
}
