/** Rejects unknown names in a query. If TypeScript infers the type of the query, it does not report unknown names itself. */
import type { ComparisonName } from '../operators'
import type { Extended, FieldConditions, RelatedCount, RelatedTest } from './query'
import type { FieldName, IsMany, RelationName, ResourceName, TargetOf } from './resources'

/**
 * Intersect this type with an inferred query type. It is `unknown` if every name is known. Otherwise, no query is assignable to it, and the
 * error message contains the unknown name.
 */
export type Exact<R extends ResourceName, Q, Names> = [UnknownIn<R, Q, Names>] extends [never]
  ? unknown
  : { readonly 'unknown name': UnknownIn<R, Q, Names> }

/** The options of an included to-many relation. */
type NamesOfMany = 'fields' | 'include' | 'counts' | 'limit' | 'sort' | 'filter'

/** The unknown names in a query, in its filter and in its includes. */
type UnknownIn<R extends ResourceName, Q, Names>
  = | Exclude<keyof Q, Names>
    | (Q extends { readonly filter: infer F extends object } ? UnknownInFilter<R, F> : never)
    | (Q extends { readonly include: infer I extends object } ? UnknownInInclude<R, I> : never)

type UnknownInFilter<R extends ResourceName, F>
  = | UnknownInConditions<R, Omit<F, Combination>>
    | (F extends { readonly [K in Combination]?: unknown } ? UnknownInBranch<R, BranchOf<F[Combination & keyof F]>> : never)

/** The keys that combine conditions. */
type Combination = Extended extends true ? '$and' | '$or' | '$not' : '$or'

type BranchOf<C> = C extends readonly (infer B)[] ? B : C

/** Without `filters.extended`, a branch contains no branches. */
type UnknownInBranch<R extends ResourceName, B> = B extends object
  ? Extended extends true ? UnknownInFilter<R, B> : UnknownInConditions<R, B>
  : never

type UnknownInConditions<R extends ResourceName, F>
  = | Exclude<keyof F, FieldName<R> | RelationName<R>>
    | { [K in keyof F & FieldName<R>]: Exclude<OperatorNames<F[K]>, OperatorNames<FieldConditions<R>[K]>> }[keyof F & FieldName<R>]
    | { [N in keyof F & RelationName<R>]: UnknownInRelated<R, N, F[N]> }[keyof F & RelationName<R>]

type UnknownInRelated<R extends ResourceName, N extends RelationName<R>, F> = F extends RelatedCount
  ? UnknownInCount<IsMany<R, N>, F>
  : UnknownInBranch<TargetOf<R, N>, F extends object ? Omit<F, keyof RelatedTest> : never>

/** `$count` needs `filters.extended` and a relation to several rows, and stands alone. */
type UnknownInCount<Many, F extends RelatedCount> = Extended extends true
  ? Many extends true ? Exclude<keyof F, '$count'> | Exclude<OperatorNames<F['$count']>, ComparisonName> : '$count'
  : '$count'

/** The operators of a condition. A plain value has no operators. */
type OperatorNames<C> = C extends readonly unknown[] | Date ? never : C extends object ? keyof C : never

type UnknownInInclude<R extends ResourceName, I>
  = | Exclude<keyof I, RelationName<R>>
    | { [N in keyof I & RelationName<R>]: I[N] extends object ? UnknownIn<TargetOf<R, N>, I[N], NamesOfMany> : never }[keyof I
      & RelationName<R>]
