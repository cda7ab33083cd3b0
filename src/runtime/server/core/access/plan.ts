/** The types of plans. A plan says which rows a request needs. Its row scope says which of them the caller can use. */
import type { CountComparison } from '../../../shared/relation-counts'
import type { Field } from '../../schema/field'
import type { Relation, Resource } from '../../schema/model'
import type { Order, SortedBy } from '../sql/keyset'
import type { Where } from '../sql/where'

export interface Plan {
  readonly resource: Resource
  /** Whether the plan reads active rows, rows in the trash, or both. */
  readonly trash: 'active' | 'trashed' | 'both'
  /** Plans for the rows of related resources. */
  readonly include?: readonly { readonly plan: Plan, readonly through?: Plan }[]
  /** Conditions on related rows. They become conditions of the plan's `where` when the related rows have their row scope. */
  readonly relationFilters?: readonly RelationFilter[]
  /** The related rows that a response counts for each of its records. */
  readonly counts?: readonly RelationCount[]
}

/** The columns of a text search, and whether its patterns are many or long. Such a search costs many times as much as a short pattern. */
export interface Search {
  readonly fields: Resource['primaryKey']
  readonly heavy: boolean
}

/** Selects the related rows of a filter. */
export interface FilteredPlan extends Plan {
  readonly where: readonly Where[]
  readonly search?: Search
}

export interface RelatedRows {
  readonly relation: Relation
  /** Whether a row needs at least one of the related rows, or none. */
  readonly match: 'some' | 'none'
  readonly plan: FilteredPlan
  /** Selects the rows of the junction table. */
  readonly through?: Plan
  /** The row needs a number of related rows that meets all of these, instead of `match`. */
  readonly count?: readonly CountComparison[]
}

/** Selects the related rows to count, of a to-many relation. */
export type RelationCount = Pick<RelatedRows, 'relation' | 'plan' | 'through'>

/** A row meets all conditions of at least one branch or, with `not`, of none. */
export interface Branches<Filter> {
  readonly branches: readonly { readonly where: readonly Where[], readonly relationFilters: readonly Filter[] }[]
  readonly not?: true
}

export type RelationFilter = RelatedRows | Branches<RelationFilter>

/** A value of the related rows that the caller can read: a field of the only one, or the number of all of them. */
export interface RelatedValue extends RelationCount {
  /** `undefined` counts the rows. */
  readonly of: Field | RelatedValue | undefined
}

/** Sorts rows by a value of related rows. It becomes a value in SQL when the related rows have their row scope. */
export interface RelatedOrder extends SortedBy {
  readonly path: string
  readonly related: RelatedValue
  readonly computed?: undefined
}

export type PlannedOrder = Order | RelatedOrder

declare const scoped: unique symbol

/** A plan limited to the rows the caller can use. Only `row-scope.ts` makes one, and only a scoped plan can be executed. */
export type Scoped<P extends Plan> = Omit<P, 'include' | 'relationFilters' | 'counts' | 'order'> & RowRules & ScopedOrder<P> & {
  readonly include: ScopedIncludes<NonNullable<P['include']>>
  readonly related?: ScopedRelated
  readonly counts?: readonly ScopedCount[]
  /** The plans of the related rows that sort the rows. */
  readonly sortedBy?: readonly Scoped<Plan>[]
  readonly [scoped]: true
}

/** The values of related rows have become SQL. Orders of another kind, such as that of groups, stay. */
type ScopedOrder<P> = P extends { readonly order: infer O }
  ? { readonly order: O extends readonly PlannedOrder[] ? readonly Order[] : O }
  : unknown

/** Scopes the plan of each include. Tuples stay tuples, and each include keeps its other properties. */
type ScopedIncludes<T extends NonNullable<Plan['include']>> = { readonly [I in keyof T]: ScopedInclude<T[I]> }

type ScopedInclude<I> = I extends { readonly plan: infer Q extends Plan }
  ? Omit<I, 'plan' | 'through'> & { readonly plan: Scoped<Q> } & ScopedThrough<I>
  : never

type ScopedThrough<I> = I extends { readonly through: Plan } ? { readonly through: Scoped<Plan> } : { readonly through?: Scoped<Plan> }

export interface RowRules {
  /** The rules that run in SQL. */
  readonly scope: readonly Where[]
  /** The rule that runs in code. It checks one row after SQL has found it. It is absent if the resource has no `objectLevel`. */
  readonly accepts?: (row: Record<string, unknown>) => Promise<boolean>
  /** Whether the caller can read a row that `accepts` refuses. If so, the response is 403 instead of 404. */
  readonly canRead?: (row: Record<string, unknown>) => Promise<boolean>
}

export interface ScopedRelatedRows extends Pick<RelatedRows, 'relation' | 'match' | 'count'> {
  readonly plan: Scoped<FilteredPlan>
  readonly through?: Scoped<Plan>
}

export type ScopedCount = Pick<ScopedRelatedRows, 'relation' | 'plan' | 'through'>

export interface ScopedRelatedValue extends ScopedCount {
  readonly of: Field | ScopedRelatedValue | undefined
}

export type ScopedRelationFilter = ScopedRelatedRows | Branches<ScopedRelationFilter>

/** The relation filters of a plan, and the clauses of its `where` that they became. */
export interface ScopedRelated {
  readonly filters: readonly ScopedRelationFilter[]
  readonly clauses: readonly Where[]
}
