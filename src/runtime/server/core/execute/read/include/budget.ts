/** The limits that all includes of one response share. */
import { limitExceeded } from '../../../error'
import type { ValueForm } from '../../rows/decode'

/** `recordsLeft` more records can be included, and `objectLevel` can check `checksLeft` more rows. `form` is the form of values. */
export interface Budget {
  recordsLeft: number
  readonly maxRecords: number
  checksLeft: number
  readonly maxChecks: number
  readonly form: ValueForm
}

/** @throws `LIMIT_EXCEEDED` if the budget has fewer records left */
export function spendRecords(budget: Budget, records: number): void {
  if (records > budget.recordsLeft) throw tooManyIncluded(budget)
  budget.recordsLeft -= records
}

export const tooManyIncluded = ({ maxRecords: max }: Budget) =>
  limitExceeded(`The response would hold more than ${max} included records. Request fewer, or set limits in \`include\`.`, 'include')
