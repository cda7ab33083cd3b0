/** The row filters of plugins: conditions that narrow the rows of a resource for every route. */
import type { Awaitable } from '../awaitable'
import type { SQL, Table } from 'drizzle-orm'
import type { AutoApiContext } from '../../registration'
import type { Where } from '../sql/where'

/** SQL, or a condition of a plugin of this package. `undefined` matches every row. */
type Condition = SQL | Where | undefined

/** Declared as a method, so that a filter of one resource can name the type of its table. */
interface Filter {
  filter(table: Table, ctx: AutoApiContext): Awaitable<Condition>
}

/**
 * Returns the SQL condition of the rows that the caller can see; `undefined` means all rows.
 * `table` is the table of the resource, or an alias of it.
 */
export type RowFilter = Filter['filter']

/** Checks one row, with every column. */
export type CheckRow = (row: Record<string, unknown>) => Awaitable<boolean>

/** Returns the check of the rows that SQL finds for a request, or `undefined` if the request needs none. */
export type RowCheck = (ctx: AutoApiContext) => Awaitable<CheckRow | undefined>

/** The `rows` of one plugin for one resource. */
export interface PluginRowFilter {
  readonly plugin: string
  readonly filter: RowFilter
}
