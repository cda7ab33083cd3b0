/** The type of the functions that build the operations of one commit. Each kind of write has one such function. */
import type { Call } from '../request/session'
import type { WritePlan } from '../plan/write'
import type { Scoped } from '../access/row-scope'
import type { WriteOperation } from '../commit/operation'
import type { Item, WrittenItem } from './items'

/**
 * Returns the operations in the order in which they run. Every statement that names a row has the row scope in its WHERE clause.
 * @param written receives the result of each item, by its index. The function sets it at once or when an operation has run.
 * @param time the server's time for every row of the write.
 */
export type BuildOperations = (
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  written: Map<number, WrittenItem>,
  call: Call,
  time: Date,
) => WriteOperation[]
