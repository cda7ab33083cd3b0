/** A condition that a row must meet when a statement writes it. */
import type { Where } from './where'

export interface WriteCondition {
  /** They become part of the WHERE clause, so that no other write can come between the check and the write. */
  readonly clauses: readonly Where[]
  /** Creates the error of an item whose row is visible but does not meet the condition. */
  readonly error: () => Error
}
