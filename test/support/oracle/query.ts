/** A query of the tests, before it is written in one of the forms of the query string. */

export type OperatorName = '$eq' | '$ne' | '$gt' | '$gte' | '$lt' | '$lte' | '$like' | '$in' | '$nin' | '$null'

export interface Condition {
  readonly field: string
  readonly operators: readonly (readonly [OperatorName, unknown])[]
}

/** Conditions that one related row meets (`some`), or that no row is related (`none`). */
export interface RelatedCondition {
  readonly relation: string
  readonly some: readonly AnyCondition[] | 'any' | 'none'
}

export type AnyCondition = Condition | RelatedCondition

export interface Filter {
  readonly and: readonly AnyCondition[]
  readonly or: readonly (readonly AnyCondition[])[]
}

/** The name in the filter. */
export const nameOf = (condition: AnyCondition) => 'field' in condition ? condition.field : condition.relation

export interface Sort {
  /** A field, or a path to one of a related row or to a count: `author.name`, `comments.$count`. */
  readonly field: string
  readonly descending: boolean
}

export interface Include {
  readonly relation: string
  readonly fields?: readonly string[]
  readonly limit?: number
  readonly sort: readonly Sort[]
  readonly filter?: Filter
  readonly counts: readonly string[]
  readonly include: readonly Include[]
}

export interface ListQuery {
  readonly filter: Filter
  readonly sort: readonly Sort[]
  readonly cursorFields: readonly Sort[]
  readonly fields?: readonly string[]
  readonly include: readonly Include[]
  /** The relations to count. */
  readonly counts: readonly string[]
  readonly limit: number
  readonly trash: 'active' | 'trashed' | 'both'
}

export interface Aggregate {
  readonly function: 'count' | 'sum' | 'avg' | 'min' | 'max'
  readonly field?: string
}

export interface GroupQuery {
  readonly aggregates: readonly Aggregate[]
  readonly groupBy: readonly string[]
  readonly having: readonly {
    readonly alias: string
    readonly operator: '$eq' | '$ne' | '$gt' | '$gte' | '$lt' | '$lte'
    readonly value: unknown
  }[]
  readonly filter: Filter
  readonly sort: readonly Sort[]
  readonly page: number
  readonly limit: number
}

export const aliasOf = ({ function: name, field }: Aggregate) => field === undefined ? name : `${name}_${field}`
