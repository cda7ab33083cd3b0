import type { ComparisonName } from './operators'

/** The property of a record that contains the numbers of its related records. No field or relation has this name. */
export const COUNT_PROPERTY = '_count'

/** The number of related records, in a filter and, behind a dot, in a sort. */
export const COUNT_OPERATOR = '$count'

const END = `.${COUNT_OPERATOR}`

/** `comments.$count`: the name of the number in a sort and of a column. */
export const countName = (relation: string): string => relation + END

/** `comments` for `comments.$count`; `undefined` for other names. */
export const countedRelation = (name: string): string | undefined => name.endsWith(END) ? name.slice(0, -END.length) : undefined

/** A comparison of the number of related records. */
export interface CountComparison {
  readonly operator: ComparisonName
  readonly value: number
}
