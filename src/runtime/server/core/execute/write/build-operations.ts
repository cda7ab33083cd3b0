/** What the file of each kind of write exports: a function that builds the operations of one commit, in the order in which they run. */
import type { Call } from '../../context'
import type { WritePlan } from '../../plan/write'
import type { Scoped } from '../../access/row-scope'
import type { WriteOperation } from '../commit/operation'
import type { Item, WrittenItem } from './items'

/**
 * The row scope is in the WHERE of every statement that names a row.
 * @param written receives the result of each item, by its index: when the operations are built, or when their outcome is read.
 * @param time the server's time for every row of the write.
 */
export type BuildOperations = (
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  written: Map<number, WrittenItem>,
  call: Call,
  time: Date,
) => WriteOperation[]
