import type { ComparisonName } from './operators'

/** The property of a record that contains the numbers of its related records. No field or relation has this name. */
export const COUNT_PROPERTY = '_count'

/** The number of related records, in a filter and, behind a dot, in a sort. */
export const COUNT_OPERATOR = '$count'

/** A comparison of the number of related records. */
export interface CountComparison {
  readonly operator: ComparisonName
  readonly value: number
}
