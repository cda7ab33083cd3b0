/** An operation of a commit: a statement, the expectation that it must meet, and the functions that use its outcome. */
import type { Awaitable } from '../awaitable'
import type { Outcome, WriteStatement } from '../../engines/engine'
import type { ReportingOperation } from './changes/report'

/** If a statement does not affect the expected number of rows, the commit fails. The expectation selects the error of the response. */
export type Expectation = 'row' | 'group' | 'condition' | 'restrict' | 'reference'

export interface WriteOperation extends ReportingOperation {
  readonly statement: WriteStatement
  readonly expectation?: Expectation
  /** The field whose reference the statement checks. */
  readonly field?: string
  /** The index of the item in the request, if the statement belongs to only one item. */
  readonly item?: number
  /** An operation with `'lock'` runs before every operation of the commit that removes a row. */
  readonly phase?: 'lock'
  readonly read?: (outcome: Outcome) => void
  /** Sets the same result as `read`, as far as it is known without the outcome. For a dry run, if the engine returns no outcomes of it. */
  readonly predict?: () => Awaitable<void>
}
