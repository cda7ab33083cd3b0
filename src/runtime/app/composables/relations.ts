/** Composables for the linked records of a record, and for changing the links. */
import type { UseQueryReturnType } from '@tanstack/vue-query'
import { toValue, type MaybeRefOrGetter } from 'vue'
import type { LinkResponse, RelatedResponse } from '../../shared/types/responses'
import type { Exact } from '../../shared/types/exact'
import type { RelatedQuery } from '../../shared/types/query'
import type { RecordId, ResourceWith, TargetOf, ToManyName } from '../../shared/types/resources'
import { useClient } from '../client'
import type { AutoApiError } from '../error'
import { isMissing, targetOf, toApiKey, toIdentity, type KeyDetails } from '../keys'
import { useApiMutation, type MutationOptions, type MutationResult, type WriteOptions } from '../mutation'
import { resources } from '../nuxt'
import { loadWith, useApiQuery, type QueryOptions } from '../query'
import type { OnlyAtRunTime, Page, Query } from '../any-resource'

type Empty = Record<never, never>
type Id = MaybeRefOrGetter<RecordId | null | undefined>

/**
 * Reads the linked records of one record: `{ data: [...], meta: { page, limit, total } }`. Sends no request while the id is missing.
 * `error` is an `AutoApiError`.
 * @example
 * const { data: tags } = useAutoApiRelation('posts', () => post.value?.id, 'tags', { sort: 'name' })
 */
export function useAutoApiRelation<
  R extends ResourceWith<'read'>,
  N extends ToManyName<R>,
  const Q extends RelatedQuery<TargetOf<R, N>> = Empty,
  Data = RelatedResponse<TargetOf<R, N>, Q>,
>(
  resource: R,
  id: Id,
  relation: N,
  query?: MaybeRefOrGetter<Q> & Exact<TargetOf<R, N>, Q, keyof RelatedQuery<TargetOf<R, N>>>,
  options?: QueryOptions<RelatedResponse<TargetOf<R, N>, Q>, Data>,
): UseQueryReturnType<Data, AutoApiError>
/** Reads the linked records of one record of a resource whose name is known only at run time. */
export function useAutoApiRelation<N extends string, L extends OnlyAtRunTime<N>, Data = Page>(
  resource: N, id: Id, relation: string, query?: MaybeRefOrGetter<Query>, options?: QueryOptions<Page, Data>, ...literal: L
): UseQueryReturnType<Data, AutoApiError>
export function useAutoApiRelation(resource: string, id: Id, relation: string, query?: unknown, options?: object): unknown {
  const key = () => {
    const recordId = toValue(id)
    return isMissing(recordId)
      ? undefined
      : toApiKey(resource, 'related', { id: toIdentity(resource, recordId), relation, query: toValue(query) as KeyDetails['query'] })
  }
  return useApiQuery(key, loadWith(useClient(), 'related'), options)
}

/** The variables of `mutate`. */
export interface Links {
  /** The id of the record on this side. */
  id: RecordId
  /** The ids of the records on the other side. */
  ids: readonly RecordId[]
  /** Values for the other columns of the junction table, for every added link. */
  metadata?: Record<string, unknown>
  /** Values for single links, by the id of the record on the other side. They override `metadata`. */
  metadataById?: Record<RecordId, Record<string, unknown>>
}

type LinkOptions<Context> = MutationOptions<LinkResponse, Links, Context> & WriteOptions<boolean>
type LinkResult<Context> = MutationResult<LinkResponse, Links, Context>

function useLinks<Context>(
  route: 'relation-replace' | 'relation-add' | 'relation-remove',
  resource: string,
  relation: string,
  options?: LinkOptions<Context>,
): LinkResult<Context> {
  const client = useClient()
  const { via } = resources[resource]?.relations[relation] ?? {}
  return useApiMutation(
    {
      send: ({ id, ...body }, query) => client.call({ route, resource, id, relation, body, query }),
      // If the junction is a registered resource (`via`), its lists contain the links as records.
      invalidates: () => via === undefined
        ? { resources: new Set([resource, targetOf(resource, relation)]), links: true }
        : { resources: new Set([via, resource, targetOf(resource, relation)]) },
    },
    options,
  )
}

/**
 * Replaces the links of a record: `mutate({ id, ids, metadata?, metadataById? })`. Resolves to `{ added, removed, total }`.
 * Links to records that the caller cannot see stay. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiRelationReplace('posts', 'tags')
 * mutate({ id: 1, ids: [2, 3] })
 */
export function useAutoApiRelationReplace<R extends ResourceWith<'update'>, Context = unknown>(
  resource: R,
  relation: ToManyName<R>,
  options?: LinkOptions<Context>,
): LinkResult<Context>
/** Replaces the links of a record of a resource whose name is known only at run time. */
export function useAutoApiRelationReplace<N extends string, L extends OnlyAtRunTime<N>, Context = unknown>(
  resource: N, relation: string, options?: LinkOptions<Context>, ...literal: L
): LinkResult<Context>
export function useAutoApiRelationReplace(resource: string, relation: string, options?: LinkOptions<unknown>): LinkResult<unknown> {
  return useLinks('relation-replace', resource, relation, options)
}

/**
 * Adds links to a record: `mutate({ id, ids, metadata?, metadataById? })`. Resolves to `{ added, removed, total }`. Existing links stay.
 * `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiRelationAdd('posts', 'tags')
 * mutate({ id: 1, ids: [2, 3], metadataById: { 3: { position: 1 } } })
 */
export function useAutoApiRelationAdd<R extends ResourceWith<'update'>, Context = unknown>(
  resource: R,
  relation: ToManyName<R>,
  options?: LinkOptions<Context>,
): LinkResult<Context>
/** Adds links to a record of a resource whose name is known only at run time. */
export function useAutoApiRelationAdd<N extends string, L extends OnlyAtRunTime<N>, Context = unknown>(
  resource: N, relation: string, options?: LinkOptions<Context>, ...literal: L
): LinkResult<Context>
export function useAutoApiRelationAdd(resource: string, relation: string, options?: LinkOptions<unknown>): LinkResult<unknown> {
  return useLinks('relation-add', resource, relation, options)
}

/**
 * Removes links of a record: `mutate({ id, ids })`. Resolves to `{ added, removed, total }`. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiRelationRemove('posts', 'tags')
 * mutate({ id: 1, ids: [2] })
 */
export function useAutoApiRelationRemove<R extends ResourceWith<'update'>, Context = unknown>(
  resource: R,
  relation: ToManyName<R>,
  options?: LinkOptions<Context>,
): LinkResult<Context>
/** Removes links of a record of a resource whose name is known only at run time. */
export function useAutoApiRelationRemove<N extends string, L extends OnlyAtRunTime<N>, Context = unknown>(
  resource: N, relation: string, options?: LinkOptions<Context>, ...literal: L
): LinkResult<Context>
export function useAutoApiRelationRemove(resource: string, relation: string, options?: LinkOptions<unknown>): LinkResult<unknown> {
  return useLinks('relation-remove', resource, relation, options)
}
