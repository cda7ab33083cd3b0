/** The changes of a commit, in the forms that plugins receive: before the commit as sets of rows, after the commit as a list. */
import type { Awaitable } from '../awaitable'
import type { InferInsertModel, SQL, Table } from 'drizzle-orm'
import type { AutoApiContext } from '../../registration'

export const CHANGE_KINDS = Object.freeze(['create', 'update', 'delete', 'restore', 'purge', 'link', 'unlink'] as const)

/** One changed row. */
export interface Change {
  /** The registered resource. It is absent if the table is not registered. */
  readonly resource?: string
  /** The table's name in the database. */
  readonly table: string
  readonly kind: typeof CHANGE_KINDS[number]
  /** The row's id, as the API returns it. The id of a composite key contains its values, separated by `,`. */
  readonly id: string
  /** The change is a cascade from another row. The request did not name this row. */
  readonly cascaded?: true
  /** The row is a child in the body of the request, and not a record that its path names. */
  readonly nested?: true
  /** The relation whose link the row is, if a body names it. */
  readonly relation?: ChangedRelation
}

export interface ChangedRelation {
  /** The resource of the record in whose body the link is. */
  readonly resource: string
  readonly name: string
}

/** Marks the context that participants receive for changes that custom code reports. */
export const REPORTED = Symbol('reported changes')

export type CommitListener = (changes: readonly Change[], ctx: AutoApiContext) => unknown

declare const changedValue: unique symbol

/** Stands for one value per changed row. Only {@link ChangedRows.insertInto} accepts it. */
export interface ChangedValue {
  readonly [changedValue]: true
}

declare const insertion: unique symbol

/** The statement that {@link ChangedRows.insertInto} returns. */
export interface ChangedRowsInsert {
  readonly [insertion]: true
}

/** A statement that runs in the commit: rows for the changed rows, or a function that builds a statement with Drizzle's query builder. */
export type CommitStatement<Database = never> = ChangedRowsInsert | ((db: Database) => unknown)

/** The values of an inserted row, by column. A value can stand for one value per changed row. */
export type ChangedRowsValues<T extends Table> = {
  readonly [K in keyof InferInsertModel<T>]: InferInsertModel<T>[K] | ChangedValue | SQL
}

/** Options of {@link ChangedRows.insertInto}. */
export interface InsertOptions {
  /**
   * Columns whose values `before` and `after` leave out, such as a password hash. `columns` still names them if they change.
   * @default []
   */
  readonly withoutValues?: readonly string[]
  /**
   * Whether `before` contains the whole row, and not only the columns that change.
   * @default false
   */
  readonly wholeBefore?: boolean
}

/**
 * The rows of one table that a commit changes in one way. The commit has not run yet: the set can turn out to be empty, and its values
 * are known only inside of the commit.
 */
export interface ChangedRows extends Omit<Change, 'id'> {
  /** The row's id, as the API returns it. */
  readonly id: ChangedValue
  /** The value of the row's tenant column. NULL if the table has none. */
  readonly tenant: ChangedValue
  /** A new UUID of version 7 for each row. */
  readonly uuid: ChangedValue
  /**
   * The names of the changed columns, as a JSON list.
   * @throws {TypeError} If the plugin does not have `needs: { images: true }`.
   */
  readonly columns: ChangedValue
  /**
   * The changed columns before the change, as a JSON object. NULL for `create` and `link`.
   * @throws {TypeError} If the plugin does not have `needs: { images: true }`.
   */
  readonly before: ChangedValue
  /**
   * The changed columns after the change, as a JSON object. NULL for `purge` and `unlink`, and for a `delete` from a table without trash.
   * @throws {TypeError} If the plugin does not have `needs: { images: true }`.
   */
  readonly after: ChangedValue
  /**
   * The id of the record that foreign key columns of the row contain, as the API returns it. NULL if one of them is NULL. Only for changes
   * that create or remove the row, such as `link`.
   * @param columns the property names of the columns, in the order of the key that they refer to
   * @throws {TypeError} If a column does not exist, or the plugin does not have `needs: { images: true }`.
   */
  readonly foreignId: (columns: readonly string[]) => ChangedValue
  /**
   * Inserts one row for each changed row. Defaults of the database apply. `$defaultFn` does not run, because the number of rows is not
   * known yet.
   * @throws {TypeError} When a column does not exist, misses a value or cannot contain it.
   */
  readonly insertInto: <T extends Table>(table: T, values: ChangedRowsValues<T>, options?: InsertOptions) => ChangedRowsInsert
}

/** Returns statements that run in the same commit as the change. If it throws, nothing is written. */
export type CommitParticipant = (
  changes: readonly ChangedRows[],
  ctx: AutoApiContext,
) => Awaitable<readonly CommitStatement[]>
