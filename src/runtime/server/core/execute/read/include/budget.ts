/** The limits that all includes of one response share. */
import { limitExceeded } from '../../../error'
import type { ValueForm } from '../../rows/decode'

/** What all includes of one response share: the records left to them, the rows that may still be judged, and what values become. */
export interface Budget {
  left: number
  readonly max: number
  unjudged: number
  readonly maxJudged: number
  readonly form: ValueForm
}

/** @throws `LIMIT_EXCEEDED` */
export function spend(budget: Budget, records: number): void {
  if (records > budget.left) throw tooMany(budget)
  budget.left -= records
}

export const tooMany = ({ max }: Budget) =>
  limitExceeded(`The response would hold more than ${max} included records. Ask for fewer, or set limits in \`include\`.`, 'include')
