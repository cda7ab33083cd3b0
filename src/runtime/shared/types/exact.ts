/** Rejects unknown names in a query. If TypeScript infers the type of the query, it does not report unknown names itself. */
import type { ComparisonName } from '../operators'
import type { Extended, FieldConditions, RelatedCount, RelatedTest } from './query'
import type { FieldName, IsMany, RelationName, ResourceName, TargetOf } from './resources'

/**
 * Intersect this type with an inferred query type. It is `unknown` if every name is known. Otherwise, no query is assignable to it, and the
 * error message contains the unknown name.
 */
export type Exact<R extends ResourceName, Q, Names, X = Extended> = [UnknownIn<R, Q, Names, X>] extends [never]
  ? unknown
  : { readonly 'unknown name': UnknownIn<R, Q, Names, X> }

/** The options of an included to-many relation. */
type NamesOfMany = 'fields' | 'include' | 'counts' | 'limit' | 'sort' | 'filter'

/** The unknown names in a query, in its filter and in its includes. */
type UnknownIn<R extends ResourceName, Q, Names, X>
  = | Exclude<keyof Q, Names>
    | (Q extends { readonly filter: infer F extends object } ? UnknownInFilter<R, F, X> : never)
    | (Q extends { readonly include: infer I extends object } ? UnknownInInclude<R, I, X> : never)

type UnknownInFilter<R extends ResourceName, F, X>
  = | UnknownInConditions<R, Omit<F, Combination<X>>, X>
    | (F extends { readonly [K in Combination<X>]?: unknown } ? UnknownInBranch<R, BranchOf<F[Combination<X> & keyof F]>, X> : never)

/** The keys that combine conditions. */
type Combination<X> = X extends true ? '$and' | '$or' | '$not' : '$or'

type BranchOf<C> = C extends readonly (infer B)[] ? B : C

/** Without `filters.extended`, a branch contains no branches. */
type UnknownInBranch<R extends ResourceName, B, X> = B extends object
  ? X extends true ? UnknownInFilter<R, B, X> : UnknownInConditions<R, B, X>
  : never

type UnknownInConditions<R extends ResourceName, F, X>
  = | Exclude<keyof F, FieldName<R> | RelationName<R>>
    | { [K in keyof F & FieldName<R>]: UnknownInTest<F[K], OperatorNames<FieldConditions<R, X>[K]>, X> }[keyof F & FieldName<R>]
    | { [N in keyof F & RelationName<R>]: UnknownInRelated<R, N, F[N], X> }[keyof F & RelationName<R>]

/** The unknown operators of a field, in its combinations too. */
type UnknownInTest<T, Known, X> = T extends readonly unknown[] | Date ? never : T extends object
  ? Exclude<keyof T, Known> | (X extends true ? UnknownInTest<BranchOf<T[Combination<X> & keyof T]>, Known, X> : never)
  : never

type UnknownInRelated<R extends ResourceName, N extends RelationName<R>, F, X> = F extends RelatedCount
  ? UnknownInCount<IsMany<R, N>, F, X>
  : UnknownInBranch<TargetOf<R, N>, F extends object ? Omit<F, keyof RelatedTest> : never, X>

/** `$count` needs `filters.extended` and a relation to several rows, and stands alone. */
type UnknownInCount<Many, F extends RelatedCount, X> = X extends true
  ? Many extends true ? Exclude<keyof F, '$count'> | Exclude<OperatorNames<F['$count']>, ComparisonName> : '$count'
  : '$count'

/** The operators of a condition. A plain value has no operators. */
type OperatorNames<C> = C extends readonly unknown[] | Date ? never : C extends object ? keyof C : never

type UnknownInInclude<R extends ResourceName, I, X>
  = | Exclude<keyof I, RelationName<R>>
    | {
      [N in keyof I & RelationName<R>]: I[N] extends object ? UnknownIn<TargetOf<R, N>, I[N], NamesOfMany, X> : never
    }[keyof I & RelationName<R>]
