/** What plugins receive that follow rows: the rows of a commit, as they were before it and as they are after it. */
import type { AutoApiContext } from '../../registration'

/** A table whose rows a plugin can follow. */
export interface WatchedTable {
  /** The name of the table in the database. */
  readonly table: string
  /** The registered resource. It is absent if the table is not registered. */
  readonly resource?: string
}

/** A row that a commit has changed, however many of its statements changed it. */
export interface WatchedRow extends WatchedTable {
  /** The row's id, as the API returns it. */
  readonly id: string
  /** The row did not exist before the commit. */
  readonly isNew: boolean
  /**
   * Every column before the commit, hidden ones included, with values as Drizzle returns them. It is absent for a new row, and for a row
   * that nobody followed when the commit began.
   */
  readonly before?: Readonly<Record<string, unknown>>
  /** The same after the commit. It is absent for a removed row. Some statements do not return it. */
  readonly after?: Readonly<Record<string, unknown>>
}

/** A plugin that follows rows while someone needs them. With nobody, a commit does no work for it. */
export interface Watcher {
  /** Whether someone follows any rows now. A commit asks once. */
  readonly isActive: () => boolean
  /** Whether someone follows the rows of a table now. A commit asks once for each table. */
  readonly watches: (table: WatchedTable) => boolean
  /** Runs after a commit with the rows of the tables that were watched when it began. An error is logged and does not undo the commit. */
  readonly onRows: (rows: readonly WatchedRow[], ctx: AutoApiContext) => unknown
}
