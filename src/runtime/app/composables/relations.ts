/** What a record is linked to, and changing the links. */
import type { UseQueryReturnType } from '@tanstack/vue-query'
import { toValue, type MaybeRefOrGetter } from 'vue'
import type { LinkResponse, RelatedResponse } from '../../shared/types/responses'
import type { Exact } from '../../shared/types/exact'
import type { RelatedQuery } from '../../shared/types/query'
import type { RecordId, ResourceWith, TargetOf, ToManyName } from '../../shared/types/resources'
import { useClient } from '../client'
import type { AutoApiError } from '../error'
import { isMissing, targetOf, toApiKey, toIdentity, type KeyDetails } from '../keys'
import { useApiMutation, type MutationOptions, type MutationResult } from '../mutation'
import { resources } from '../nuxt'
import { loadWith, useApiQuery, type QueryOptions } from '../query'

type Empty = Record<never, never>

/**
 * The records that one record is linked to.
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
  id: MaybeRefOrGetter<RecordId | null | undefined>,
  relation: N,
  query?: MaybeRefOrGetter<Q> & Exact<TargetOf<R, N>, Q, keyof RelatedQuery<TargetOf<R, N>>>,
  options?: QueryOptions<RelatedResponse<TargetOf<R, N>, Q>, Data>,
): UseQueryReturnType<Data, AutoApiError> {
  const key = () => {
    const known = toValue(id)
    return isMissing(known)
      ? undefined
      : toApiKey(resource, 'related', { id: toIdentity(resource, known), relation, query: toValue(query) as KeyDetails['query'] })
  }
  return useApiQuery(key, loadWith(useClient(), 'related'), options)
}

/** What is passed to `mutate`. */
export interface Links {
  /** The record on this side. */
  id: RecordId
  /** Those on the other. */
  ids: readonly RecordId[]
  /** Further columns of the junction, for the links that are added. */
  metadata?: Record<string, unknown>
  /** The same for single links, by the id of the other side; it goes before `metadata`. */
  metadataById?: Record<RecordId, Record<string, unknown>>
}

type LinkOptions<Context> = MutationOptions<LinkResponse, Links, Context>
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
      send: ({ id, ...body }) => client.call({ route, resource, id, relation, body }),
      // Links of a registered junction are records of their own, and may be listed as such.
      written: () => via === undefined
        ? { resources: new Set([resource, targetOf(resource, relation)]), links: true }
        : { resources: new Set([via, resource, targetOf(resource, relation)]) },
    },
    options,
  )
}

/**
 * Links exactly these: takes `{ id, ids, metadata?, metadataById? }`.
 * @example
 * const { mutate } = useAutoApiRelationReplace('posts', 'tags')
 * mutate({ id: 1, ids: [2, 3] })
 */
export function useAutoApiRelationReplace<R extends ResourceWith<'update'>, Context = unknown>(
  resource: R,
  relation: ToManyName<R>,
  options?: LinkOptions<Context>,
): LinkResult<Context> {
  return useLinks('relation-replace', resource, relation, options)
}

/**
 * Links these as well: takes `{ id, ids, metadata?, metadataById? }`.
 * @example
 * const { mutate } = useAutoApiRelationAdd('posts', 'tags')
 * mutate({ id: 1, ids: [2, 3], metadataById: { 3: { position: 1 } } })
 */
export function useAutoApiRelationAdd<R extends ResourceWith<'update'>, Context = unknown>(
  resource: R,
  relation: ToManyName<R>,
  options?: LinkOptions<Context>,
): LinkResult<Context> {
  return useLinks('relation-add', resource, relation, options)
}

/**
 * Takes the links to these away: takes `{ id, ids }`.
 * @example
 * const { mutate } = useAutoApiRelationRemove('posts', 'tags')
 * mutate({ id: 1, ids: [2] })
 */
export function useAutoApiRelationRemove<R extends ResourceWith<'update'>, Context = unknown>(
  resource: R,
  relation: ToManyName<R>,
  options?: LinkOptions<Context>,
): LinkResult<Context> {
  return useLinks('relation-remove', resource, relation, options)
}
