/** The types of queries, by resource: filters by column type, sort, fields, includes. */
import type { ComparisonName, OperatorsOf } from '../operators'
import type { FieldKind, FieldName, FieldsOfKind, IsMany, OrderedField, RelationName, ResourceName, SentField, TargetOf } from './resources'

type Condition<R extends ResourceName, K>
  = FieldKind<R, K> extends 'opaque'
    ? OperatorsOf<'opaque', never> | null
    : SentField<R, K> | null | readonly SentField<R, K>[] | OperatorsOf<FieldKind<R, K>, SentField<R, K>>

/** All conditions must match. */
export type Conditions<R extends ResourceName> = { readonly [K in FieldName<R>]?: Condition<R, K> }

export type Filter<R extends ResourceName> = Conditions<R> & { readonly $or?: readonly Conditions<R>[] }

/** A field, or `-` and a field for descending order. */
export type SortKey<R extends ResourceName> = OrderedField<R> | `-${OrderedField<R>}`

export interface ToOneOptions<R extends ResourceName> {
  readonly fields?: readonly FieldName<R>[]
  readonly include?: Include<R>
}

export interface ToManyOptions<R extends ResourceName> extends ToOneOptions<R> {
  /** Rows per record. */
  readonly limit?: number
  readonly sort?: SortKey<R> | readonly SortKey<R>[]
  readonly filter?: Filter<R>
}

/** Included relations with their options, which can include further relations. */
export type Include<R extends ResourceName> = {
  readonly [N in RelationName<R>]?: boolean | (IsMany<R, N> extends true ? ToManyOptions<TargetOf<R, N>> : ToOneOptions<TargetOf<R, N>>)
}

/** Rows in the trash. Requires the permission `viewDeleted`. */
interface Trash {
  readonly includeDeleted?: boolean
  readonly onlyDeleted?: boolean
}

export interface GetQuery<R extends ResourceName> extends Trash {
  readonly fields?: readonly FieldName<R>[]
  readonly include?: Include<R>
}

type Numeric = 'number' | 'bigint' | 'decimal'

/** `count`, `count(title)`, `sum(views)`: the functions that the kind of the column allows. */
export type Aggregate<R extends ResourceName>
  = | 'count'
    | `count(${FieldName<R>})`
    | `${'sum' | 'avg'}(${FieldsOfKind<R, Numeric>})`
    | `${'min' | 'max'}(${FieldsOfKind<R, Numeric | 'text' | 'date'>})`

/** The query of an infinite list, which sets `cursor` itself. */
export interface UnpagedQuery<R extends ResourceName> extends GetQuery<R> {
  readonly filter?: Filter<R>
  readonly sort?: SortKey<R> | readonly SortKey<R>[]
  readonly cursorFields?: readonly SortKey<R>[]
  readonly limit?: number
  readonly aggregate?: readonly Aggregate<R>[]
}

export interface ListQuery<R extends ResourceName> extends UnpagedQuery<R> {
  /** Number of the page, from 1. */
  readonly page?: number
  /** `nextCursor` of the previous page; `''` for the first page. */
  readonly cursor?: string
  /** `'none'` skips the count: the response has `meta.hasMore` instead of `meta.total`. */
  readonly count?: 'exact' | 'none'
}

export interface RelatedQuery<R extends ResourceName> extends ListQuery<R> {
  /** Adds the further columns of the junction row as `_junction`. */
  readonly includeMetadata?: boolean
}

/** The name of an aggregate in the response: `sum(views)` is `sum_views`. */
export type AliasOf<A> = A extends `${infer F}(${infer K})` ? `${F}_${K}` : A

type HavingCondition = Readonly<Partial<Record<ComparisonName, string | number>>> | string | number

export interface AggregateQuery<R extends ResourceName> extends Trash {
  readonly aggregate?: readonly Aggregate<R>[]
  readonly groupBy?: readonly OrderedField<R>[]
  readonly filter?: Filter<R>
  /** Conditions on aggregates, by their names in the response. */
  readonly having?: { readonly [alias in AliasOf<Aggregate<R>>]?: HavingCondition }
  readonly sort?: GroupSort<R> | readonly GroupSort<R>[]
  readonly page?: number
  readonly limit?: number
}

type GroupKey<R extends ResourceName> = OrderedField<R> | AliasOf<Aggregate<R>>
type GroupSort<R extends ResourceName> = GroupKey<R> | `-${GroupKey<R>}`
