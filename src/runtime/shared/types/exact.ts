/** Rejects unknown names in a query. TypeScript does not check for them where it infers the type of the query. */
import type { Conditions } from './query'
import type { FieldName, RelationName, ResourceName, TargetOf } from './resources'

/**
 * A type to intersect with an inferred query: `unknown` if every name is known, otherwise a type that no query has, whose error message
 * contains the unknown name.
 */
export type Exact<R extends ResourceName, Q, Names> = [UnknownIn<R, Q, Names>] extends [never]
  ? unknown
  : { readonly 'unknown name': UnknownIn<R, Q, Names> }

type NamesOfMany = 'fields' | 'include' | 'limit' | 'sort' | 'filter'

/** The unknown names of a query and of its filter and includes. */
type UnknownIn<R extends ResourceName, Q, Names>
  = | Exclude<keyof Q, Names>
    | (Q extends { readonly filter: infer F extends object } ? UnknownInFilter<R, F> : never)
    | (Q extends { readonly include: infer I extends object } ? UnknownInInclude<R, I> : never)

type UnknownInFilter<R extends ResourceName, F>
  = | UnknownInConditions<R, Omit<F, '$or'>>
    | (F extends { readonly $or: readonly (infer Branch)[] } ? Branch extends unknown ? UnknownInConditions<R, Branch> : never : never)

type UnknownInConditions<R extends ResourceName, F>
  = | Exclude<keyof F, FieldName<R>>
    | { [K in keyof F & FieldName<R>]: Exclude<OperatorNames<F[K]>, OperatorNames<Conditions<R>[K]>> }[keyof F & FieldName<R>]

/** The operators of a condition; a plain value has none. */
type OperatorNames<C> = C extends readonly unknown[] | Date ? never : C extends object ? keyof C : never

type UnknownInInclude<R extends ResourceName, I>
  = | Exclude<keyof I, RelationName<R>>
    | { [N in keyof I & RelationName<R>]: I[N] extends object ? UnknownIn<TargetOf<R, N>, I[N], NamesOfMany> : never }[keyof I
      & RelationName<R>]
