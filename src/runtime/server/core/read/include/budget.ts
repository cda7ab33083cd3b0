/** The limits that all includes of one response share. */
import { limitExceeded } from '../../error'
import type { ValueForm } from '../rows/decode'

/**
 * `recordsLeft` more records of `bytesLeft` bytes can be included, and `objectLevel` can check `checksLeft` more rows. `form` is the form
 * of values.
 */
export interface Budget {
  recordsLeft: number
  readonly maxRecords: number
  bytesLeft: number
  readonly maxBytes: number
  checksLeft: number
  readonly maxChecks: number
  readonly form: ValueForm
}

/**
 * @param size of the record as JSON
 * @param occurrences how often the response contains the record
 * @throws `LIMIT_EXCEEDED` if the budget has fewer records or bytes left
 */
export function spendRecord(budget: Budget, size: number, occurrences: number): void {
  if (occurrences > budget.recordsLeft) throw tooManyIncluded(budget)
  budget.recordsLeft -= occurrences
  budget.bytesLeft -= size * occurrences
  if (budget.bytesLeft < 0) throw tooLargeIncluded(budget)
}

export const tooManyIncluded = ({ maxRecords: max }: Budget) =>
  limitExceeded(`The response would hold more than ${max} included records. Request fewer, or set limits in \`include\`.`, 'include')

export const tooLargeIncluded = ({ maxBytes }: Budget) =>
  limitExceeded(
    `The included records would have more than ${maxBytes} bytes (\`relations.maxBytes\`). `
    + 'Request fewer, or set limits and select fields in `include`.',
    'include',
  )
