/** A query of the tests, before it is written in one of the forms of the query string. */

export type OperatorName
  = | '$eq' | '$ne' | '$gt' | '$gte' | '$lt' | '$lte' | '$like' | '$in' | '$nin' | '$null'
    | '$between' | '$notLike' | '$startsWith' | '$endsWith' | '$contains' | '$eqi'

export interface Condition {
  readonly field: string
  readonly operators: readonly (readonly [OperatorName, unknown])[]
}

/** Conditions that one related row meets (`some`), or that no row is related (`none`). */
export interface RelatedCondition {
  readonly relation: string
  readonly some: readonly AnyCondition[] | 'any' | 'none'
}

/** Comparisons of the number of related rows. All of them hold. */
export interface CountCondition {
  readonly relation: string
  readonly count: readonly (readonly [Comparison, number])[]
}

export type Comparison = '$eq' | '$ne' | '$gt' | '$gte' | '$lt' | '$lte'

/** Branches of conditions: all of them hold (`$and`), at least one (`$or`), or not the only one (`$not`). */
export interface Combination {
  readonly combine: '$and' | '$or' | '$not'
  readonly branches: readonly (readonly AnyCondition[])[]
  /** All conditions are on this field, and the combination stands behind its name. */
  readonly of?: string
}

export type AnyCondition = Condition | RelatedCondition | CountCondition | Combination

export interface Filter {
  readonly and: readonly AnyCondition[]
  readonly or: readonly (readonly AnyCondition[])[]
}

/** The name in the filter. */
export const nameOf = (condition: AnyCondition): string =>
  'field' in condition ? condition.field : 'relation' in condition ? condition.relation : condition.of ?? condition.combine

/** The conditions on fields, those of combinations and of related rows included. */
export const conditionsIn = (conditions: readonly AnyCondition[]): readonly Condition[] => conditions.flatMap((condition) => {
  if ('field' in condition) return [condition]
  if ('combine' in condition) return condition.branches.flatMap(conditionsIn)
  return 'count' in condition || typeof condition.some === 'string' ? [] : conditionsIn(condition.some)
})

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
    readonly operator: Comparison
    readonly value: unknown
  }[]
  readonly filter: Filter
  readonly sort: readonly Sort[]
  readonly page: number
  readonly limit: number
}

export const aliasOf = ({ function: name, field }: Aggregate) => field === undefined ? name : `${name}_${field}`
