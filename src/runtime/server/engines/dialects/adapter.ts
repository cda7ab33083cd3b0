/** The differences between SQL dialects: everything else of a statement has the same text in all of them. */
import type { Column, SQL } from 'drizzle-orm'
import type { Kind } from '../../../shared/wire'

export interface DialectAdapter {
  /** A write returns its rows. Without RETURNING they are read back in the same transaction. */
  readonly returning: boolean
  /** NULL sorts below every value; otherwise above. */
  readonly nullsLow: boolean
  /** An index over both columns serves `(a, b) > (?, ?)`. */
  readonly tupleComparison: boolean
  /** Each column of a query has one type: keys of different types are converted to text. */
  readonly typedColumns: boolean
  /** A statement checks foreign keys after each row, so it cannot delete a row before another one that references it. */
  readonly checksForeignKeysByRow: boolean
  /** The statement that defers the check of all foreign keys to the end of the transaction; absent where there is none. */
  readonly deferForeignKeys?: string
  /** The statement that checks deferred constraints at once; absent where no constraint is checked at the commit only. */
  readonly checkDeferred?: string
  /** Ignores the case of ASCII letters; `\` escapes. */
  readonly like: (column: Column, pattern: SQL) => SQL
  /** Locks the rows of a SELECT until the commit, against changes and against other locks. */
  readonly lock: Readonly<Record<'share' | 'update', SQL>>
  /** `select …` with a number for each row, in the order in which the rows are found. */
  readonly numbered: (columns: SQL, table: SQL, number: SQL) => SQL
  /** The number of rows that a SELECT has locked. */
  readonly countLocked: (rows: SQL) => SQL
  /** The rest of an `insert into t` that sets no column. */
  readonly defaultValues: SQL
  /** A list of tuples on the right of IN, without its parentheses. */
  readonly tuples: (list: SQL) => SQL
  /** A parameter with the type of its column, where the statement does not imply it. */
  readonly typed: (value: SQL, column: Column) => SQL
  /** A value as text, and text as a value of a column: one column of a query can contain keys of different types. */
  readonly toText: (value: SQL) => SQL
  readonly fromText: (text: SQL, column: Column) => SQL
  /** A value of one column as the type of another one. */
  readonly convert: (value: SQL, from: Column, to: Column) => SQL
  /** Compares values of a column by bytes, whatever its collation; `undefined` for types without a collation. */
  readonly bytewise: (column: Column) => Bytewise | undefined
  readonly aggregates: AggregateSql
}

/** A comparison by bytes. A statement combines it with the plain comparison (`and`), because only the plain one can use an index. */
export interface Bytewise {
  /** Wraps each side of the comparison: `a` becomes `a collate binary`. */
  readonly operand: (value: SQL) => SQL
  /** Wraps the whole comparison on Postgres. Otherwise the planner assumes that it excludes further rows, and estimates too few. */
  readonly condition: (condition: SQL) => SQL
}

type Term = (column: Column, kind: Kind) => SQL

export interface AggregateSql {
  /** A sum with all its digits, for `toResultValue`. */
  readonly exactSum: Term
  /** A sum and an average in ORDER BY and HAVING: the numbers of the response, except for a double's last digits. */
  readonly sum: Term
  readonly average: Term
  /** A number sent as text, compared with a count, a sum or an average. */
  readonly number: (value: SQL) => SQL
  /** The least or the greatest value as the database compares it. */
  readonly extreme: (name: 'min' | 'max', column: Column) => SQL
  /** The column's value for its least or greatest value. */
  readonly fromExtreme: (extreme: SQL, column: Column) => SQL
  /** A value compared with the least or the greatest one. */
  readonly comparedExtreme: (value: SQL, column: Column, kind: Kind) => SQL
}
