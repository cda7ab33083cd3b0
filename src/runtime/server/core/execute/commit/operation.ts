/** An operation of a commit: a statement, what it must find, and what to do with its outcome. */
import type { Outcome, WriteStatement } from '../../../engines/engine'
import type { Change } from '../../changes'

/** The check of a statement. It selects the error of a commit that fails because the statement affected another number of rows. */
export type Expectation = 'row' | 'group' | 'restrict' | 'reference'

export interface WriteOperation {
  readonly statement: WriteStatement
  readonly expectation?: Expectation
  /** The field with the reference that the statement checks. */
  readonly field?: string
  /** The index of the item, if the statement belongs to one item alone. */
  readonly item?: number
  /** `'lock'`: runs before any operation of the commit that removes a row. */
  readonly phase?: 'lock'
  readonly read?: (outcome: Outcome) => void
  /** The rows that the statement changes or is about to change. Called only if there are listeners. */
  readonly changes?: (outcome: Outcome) => readonly Change[]
}
