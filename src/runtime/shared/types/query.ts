/** The types of queries for each resource: filters by column type, sorts, fields and includes. */
import type { ComparisonName, ExtendedName, OperatorsOf } from '../operators'
import type {
  AutoApiSettings, FieldKind, FieldName, FieldsOfKind, IsMany, OrderedField, RelationName, ResourceName, SentField, TargetOf, ToManyName,
} from './resources'

/** Whether the app has the extended operators: the option `filters.extended`. */
export type Extended = AutoApiSettings extends { filters: 'extended' } ? true : false

/** The keys that combine conditions at any level. */
interface Combined<C> {
  readonly $and?: readonly C[]
  readonly $or?: readonly C[]
  readonly $not?: C
}

type Condition<R extends ResourceName, K, X>
  = FieldKind<R, K> extends 'opaque'
    ? FieldTest<'opaque', never, X> | null
    : SentField<R, K> | null | readonly SentField<R, K>[] | FieldTest<FieldKind<R, K>, SentField<R, K>, X>

/** The operators of a field, and their combinations. */
type FieldTest<K, V, X> = X extends true
  ? OperatorsOf<K, V> & Combined<FieldTest<K, V, X>>
  : OperatorsOf<K, V, ExtendedName>

/** Matches rows with any related row that the caller can see, or rows without one: also `null`. */
export interface RelatedTest {
  readonly $null?: boolean
  readonly $eq?: null
  readonly $ne?: null
}

export type FieldConditions<R extends ResourceName, X = Extended> = { readonly [K in FieldName<R>]?: Condition<R, K, X> }

/** Conditions by field and by relation. A row must match all of them; one related row must match all conditions of its relation. */
export type Conditions<R extends ResourceName, X = Extended> = FieldConditions<R, X> & {
  readonly [N in RelationName<R>]?: (ConditionsOfRelated<TargetOf<R, N>, X> | RelatedTest) & Uncounted | CountTest<R, N, X> | null
}

/** Compares the number of related rows that the caller can see. Only with `filters.extended`, and only for a relation to several rows. */
type CountTest<R extends ResourceName, N extends RelationName<R>, X>
  = X extends true ? IsMany<R, N> extends true ? RelatedCount : never : never

/** Conditions have no `$count`: it stands alone. */
interface Uncounted {
  readonly $count?: never
}

export interface RelatedCount {
  /** A number, or its comparisons. */
  readonly $count: number | Readonly<Partial<Record<ComparisonName, number>>>
}

type ConditionsOfRelated<R extends ResourceName, X> = X extends true ? Filter<R, X> : Conditions<R, X>

/** With `filters.extended`, `$and`, `$or` and `$not` combine conditions at any level. Without it, there is one `$or`, at the top. */
export type Filter<R extends ResourceName, X = Extended> = Conditions<R, X> & (
  X extends true ? Combined<Filter<R, X>> : { readonly $or?: readonly Conditions<R, X>[] }
)

/** A field of a to-one relation, such as `author.name`, or the number of rows of another one: `comments.$count`. */
type RelatedSort<R extends ResourceName> = {
  [N in RelationName<R>]: IsMany<R, N> extends true ? `${N}.$count` : `${N}.${OrderedField<TargetOf<R, N>>}`
}[RelationName<R>]

/** A field of a to-one relation, such as `author.name`. */
export type RelatedField<R extends ResourceName> = {
  [N in RelationName<R>]: IsMany<R, N> extends true ? never : `${N}.${FieldName<TargetOf<R, N>>}`
}[RelationName<R>]

/** The number of related rows of a relation to several rows, such as `comments.$count`. */
export type CountedName<R extends ResourceName> = `${ToManyName<R>}.$count`

/** A field or a value of related rows for ascending order. With `-` before it, the order is descending. */
export type SortKey<R extends ResourceName> = FieldSort<R> | RelatedSort<R> | `-${RelatedSort<R>}`

type FieldSort<R extends ResourceName> = OrderedField<R> | `-${OrderedField<R>}`

/** Relations whose records are counted. */
interface Counts<R extends ResourceName> {
  /** To-many relations. Each record gets `_count` with the number of records of each relation that the caller can read. */
  readonly counts?: readonly ToManyName<R>[]
}

export interface ToOneOptions<R extends ResourceName> extends Counts<R> {
  readonly fields?: readonly FieldName<R>[]
  readonly include?: Include<R>
}

export interface ToManyOptions<R extends ResourceName> extends ToOneOptions<R> {
  /** Maximum number of related rows for each record. */
  readonly limit?: number
  readonly sort?: SortKey<R> | readonly SortKey<R>[]
  readonly filter?: Filter<R>
}

/** Included relations with their options, which can include further relations. */
export type Include<R extends ResourceName> = {
  readonly [N in RelationName<R>]?: boolean | (IsMany<R, N> extends true ? ToManyOptions<TargetOf<R, N>> : ToOneOptions<TargetOf<R, N>>)
}

/** Options to read rows in the trash. They require the permission `viewDeleted`. */
interface Trash {
  readonly includeDeleted?: boolean
  readonly onlyDeleted?: boolean
}

export interface GetQuery<R extends ResourceName> extends Trash, Counts<R> {
  readonly fields?: readonly FieldName<R>[]
  readonly include?: Include<R>
}

type Numeric = 'number' | 'bigint' | 'decimal'

/** An aggregate function, such as `count`, `count(title)` or `sum(views)`. The kind of the column decides which functions are possible. */
export type Aggregate<R extends ResourceName>
  = | 'count'
    | `count(${FieldName<R>})`
    | `${'sum' | 'avg'}(${FieldsOfKind<R, Numeric>})`
    | `${'min' | 'max'}(${FieldsOfKind<R, Numeric | 'text' | 'date'>})`

/** The query of an infinite list. It has no `page` and no `cursor`, because the infinite list sets `cursor` itself. */
export interface UnpagedQuery<R extends ResourceName> extends GetQuery<R> {
  readonly filter?: Filter<R>
  readonly sort?: SortKey<R> | readonly SortKey<R>[]
  readonly cursorFields?: readonly FieldSort<R>[]
  readonly limit?: number
  readonly aggregate?: readonly Aggregate<R>[]
}

export interface ListQuery<R extends ResourceName> extends UnpagedQuery<R> {
  /** Number of the page. The first page is 1. */
  readonly page?: number
  /** The `nextCursor` of the previous page; `''` requests the first page. */
  readonly cursor?: string
  /**
   * `'none'` skips the count. The response then has `meta.hasMore` instead of `meta.total`. `'estimated'` counts at most 10,000 rows; the
   * response then has both.
   * @default 'exact'
   */
  readonly count?: 'exact' | 'none' | 'estimated'
}

export interface RelatedQuery<R extends ResourceName> extends ListQuery<R> {
  /** Adds the additional columns of the junction row as `_junction`. */
  readonly includeMetadata?: boolean
}

/** The name of an aggregate in the response: `sum(views)` becomes `sum_views`. */
export type AliasOf<A> = A extends `${infer F}(${infer K})` ? `${F}_${K}` : A

type HavingCondition = Readonly<Partial<Record<ComparisonName, string | number>>> | string | number

export interface AggregateQuery<R extends ResourceName> extends Trash {
  readonly aggregate?: readonly Aggregate<R>[]
  readonly groupBy?: readonly OrderedField<R>[]
  readonly filter?: Filter<R>
  /** Conditions on aggregates. Each key is the name of the aggregate in the response. */
  readonly having?: { readonly [alias in AliasOf<Aggregate<R>>]?: HavingCondition }
  readonly sort?: GroupSort<R> | readonly GroupSort<R>[]
  readonly page?: number
  readonly limit?: number
}

type GroupKey<R extends ResourceName> = OrderedField<R> | AliasOf<Aggregate<R>>
type GroupSort<R extends ResourceName> = GroupKey<R> | `-${GroupKey<R>}`
