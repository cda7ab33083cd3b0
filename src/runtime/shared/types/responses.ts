/** The response types of the routes. They depend on the resource and on the query. */
import type { ApiDescription } from './description'
import type { AliasOf } from './query'
import type {
  AutoApiSettings, CreatedRecord, FieldKind, FieldName, FieldValue, IsMany, RecordOf, ResourceName, Simplify, TargetOf, ToManyName,
} from './resources'

/** The fields that the query lists in `fields`. Without `fields`, all fields. */
type SelectedFields<R extends ResourceName, Q> = Q extends { readonly fields: readonly (infer F)[] }
  ? [F] extends [never]
      ? RecordOf<R>
      : { [K in F & FieldName<R>]: FieldValue<R, K> }
  : RecordOf<R>

type IncludedValue<R extends ResourceName, N, Options>
  = IsMany<R, N> extends true ? ResultOf<TargetOf<R, N>, Options>[] : ResultOf<TargetOf<R, N>, Options> | null

type Included<R extends ResourceName, Q> = Q extends { readonly include: infer I extends object }
  ? { -readonly [N in keyof I as I[N] extends false | undefined ? never : N]: IncludedValue<R, N, I[N]> }
  : unknown

/** A record in the response of a write, with the relations that the write includes. */
export type WithIncluded<R extends ResourceName, Written, I>
  = [keyof I] extends [never] ? Written : Simplify<Written & Included<R, { readonly include: I }>>

/** The numbers of related records that the query lists in `counts`. */
type Counted<R extends ResourceName, Q> = Q extends { readonly counts: readonly (infer N)[] }
  ? [N] extends [never] ? unknown : { _count: { [K in N & ToManyName<R>]: number } }
  : unknown

/** A record in a response, with its selected fields, its included relations and its counts. */
export type ResultOf<R extends ResourceName, Q> = Simplify<SelectedFields<R, Q> & Included<R, Q> & Counted<R, Q>>

export interface OffsetMeta {
  page: number
  limit: number
  total: number
}

export interface UncountedMeta {
  page: number
  limit: number
  hasMore: boolean
}

export interface EstimatedMeta extends OffsetMeta {
  hasMore: boolean
  /** More records than `total` match. */
  totalIsMore?: true
  /** `total` is the estimate of the database. */
  totalIsEstimated?: true
}

export interface CursorMeta {
  limit: number
  hasMore: boolean
  /** `null` on the last page. */
  nextCursor: string | null
}

type DefaultMeta<Q> = AutoApiSettings extends { pagination: 'cursor' } ? CursorMeta : NumberedMeta<Q>
type NumberedMeta<Q> = Q extends { readonly count: 'none' } ? UncountedMeta
  : Q extends { readonly count: 'estimated' } ? EstimatedMeta : OffsetMeta
type PageMeta<Q> = Q extends { readonly cursor: string }
  ? CursorMeta
  : Q extends { readonly page: number }
    ? NumberedMeta<Q>
    : DefaultMeta<Q>

type AggregatesMeta<R extends ResourceName, Q> = Q extends { readonly aggregate: readonly (infer A)[] }
  ? { aggregates: Aggregates<R, A> }
  : unknown

export type ListMeta<R extends ResourceName, Q> = Simplify<PageMeta<Q> & AggregatesMeta<R, Q>>

export interface ListResponse<R extends ResourceName, Q = unknown> {
  data: ResultOf<R, Q>[]
  meta: ListMeta<R, Q>
}

export interface CursorResponse<R extends ResourceName, Q = unknown> {
  data: ResultOf<R, Q>[]
  meta: Simplify<CursorMeta & AggregatesMeta<R, Q>>
}

/** `_junction` contains the additional columns of the junction row. */
type JunctionColumns<Q> = Q extends { readonly includeMetadata: true } ? { _junction: Record<string, unknown> } : unknown

export interface RelatedResponse<R extends ResourceName, Q = unknown> {
  data: Simplify<ResultOf<R, Q> & JunctionColumns<Q>>[]
  meta: ListMeta<R, Q>
}

/** The type of a sum or an average. For bigint and decimal it is text. If there are no rows, it is null. */
type SumOf<R extends ResourceName, K> = (FieldKind<R, K> extends 'bigint' | 'decimal' ? string : number) | null

type AggregateValue<R extends ResourceName, A>
  = A extends `${'sum' | 'avg'}(${infer K})` ? SumOf<R, K>
    : A extends `${'min' | 'max'}(${infer K})` ? FieldValue<R, K> | null
      : number

export type Aggregates<R extends ResourceName, A> = { [E in A & string as AliasOf<E>]: AggregateValue<R, E> }

type AggregatesOf<R extends ResourceName, Q> = Q extends { readonly aggregate: readonly (infer A)[] } ? Aggregates<R, A> : { count: number }

type GroupOf<R extends ResourceName, Q> = Q extends { readonly groupBy: readonly (infer G)[] }
  ? { group: { [K in G & FieldName<R>]: FieldValue<R, K> } }
  : unknown

export interface AggregateResponse<R extends ResourceName, Q = unknown> {
  /** One entry per group. If the query has no `groupBy`, there is one entry, without `group`. */
  data: Simplify<GroupOf<R, Q> & AggregatesOf<R, Q>>[]
  meta: { total: number }
}

export interface Deletion {
  success: true
  softDeleted: boolean
  deletionId?: string
}

export interface BulkMeta {
  total: number
  successful: number
  failed: number
  /** The number of new records of an upsert. */
  created?: number
  /** The number of existing records that an upsert has updated. */
  updated?: number
  errors?: BulkFailure[]
}

export interface BulkFailure {
  index: number
  id?: string | number
  statusCode: number
  message: string
  code?: string
  issues?: unknown
}

export interface BulkResponse<R extends ResourceName> {
  data: RecordOf<R>[]
  meta: BulkMeta
}

export interface BulkCreateResponse<R extends ResourceName> {
  data: CreatedRecord<R>[]
  meta: BulkMeta
}

export interface BulkDeletion {
  data: { id: string | number, deleted: true, softDeleted: boolean, deletionId?: string }[]
  meta: BulkMeta
}

export interface LinkResponse {
  added: number
  removed: number
  total: number
}

export interface Capabilities {
  canRead: boolean
  canCreate: boolean
  canUpdate: boolean
  canDelete: boolean
  canAggregate: boolean
  canRestore: boolean
  canPurge: boolean
  canViewDeleted: boolean
  /** The fields that have a field rule. */
  fields: Record<string, { canRead: boolean, canWrite: boolean }>
}

export interface RecordCapabilities {
  canRead: boolean
  canUpdate: boolean
  canDelete: boolean
}

/** The response types of the routes of a resource, for requests without a query. `$fetch('/api/posts')` uses them. */
export interface RouteResponses<R extends ResourceName> {
  'list': ListResponse<R>
  'create': CreatedRecord<R>
  'aggregate': AggregateResponse<R>
  'resource-permissions': Capabilities & { records?: Record<string, RecordCapabilities> }
  'bulk-create': BulkCreateResponse<R>
  'bulk-update': BulkResponse<R>
  'bulk-delete': BulkDeletion
  'bulk-restore': BulkResponse<R>
  'get': RecordOf<R>
  'update': RecordOf<R>
  'delete': Deletion
  'restore': RecordOf<R>
  'related': { data: Record<string, unknown>[], meta: ListMeta<R, unknown> }
  'relation-replace': LinkResponse
  'relation-add': LinkResponse
  'relation-remove': LinkResponse
  'relations-replace': { relations: Record<string, LinkResponse> }
}

/** The response types of the routes that belong to no resource. */
export interface GlobalResponses {
  'permissions': { permissions: Record<string, Capabilities> }
  'schema': ApiDescription
  'm2m-junctions': { junctions: { table: string, resources: string[] }[], count: number }
  'm2m-is-junction': { table: string, isJunction: boolean }
  'm2m-detect': { resource: string, relationships: { name: string, resource: string, junction: string }[] }
}
