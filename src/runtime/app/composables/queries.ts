/** Lists, records, infinite lists and aggregates. */
import type { InfiniteData, UseInfiniteQueryReturnType, UseQueryReturnType } from '@tanstack/vue-query'
import { toValue, type MaybeRefOrGetter } from 'vue'
import type { AggregateResponse, CursorResponse, ListResponse, ResultOf } from '../../shared/types/responses'
import type { Exact } from '../../shared/types/exact'
import type { AggregateQuery, GetQuery, ListQuery, UnpagedQuery } from '../../shared/types/query'
import type { RecordId, ResourceWith } from '../../shared/types/resources'
import { useClient } from '../client'
import type { AutoApiError } from '../error'
import { isMissing, toApiKey, toIdentity, type KeyDetails } from '../keys'
import { loadWith, useApiQuery, useApiPages, type InfiniteOptions, type QueryOptions } from '../query'

type Empty = Record<never, never>
const detail = (query: unknown) => ({ query: toValue(query) as KeyDetails['query'] })

/**
 * One page of a resource: by number, or by cursor where the query has one.
 * @example
 * const { data, isPending } = useAutoApiList('posts', () => ({ filter: { status: 'draft' }, sort: '-id', page: page.value }))
 */
export function useAutoApiList<R extends ResourceWith<'read'>, const Q extends ListQuery<R> = Empty, Data = ListResponse<R, Q>>(
  resource: R,
  query?: MaybeRefOrGetter<Q> & Exact<R, Q, keyof ListQuery<R>>,
  options?: QueryOptions<ListResponse<R, Q>, Data>,
): UseQueryReturnType<Data, AutoApiError> {
  return useApiQuery(() => toApiKey(resource, 'list', detail(query)), loadWith(useClient(), 'list'), options)
}

/**
 * One record. Nothing is asked for while there is no id.
 * @example
 * const { data: post, error } = useAutoApiGet('posts', () => route.params.id, { include: { author: true } })
 */
export function useAutoApiGet<R extends ResourceWith<'read'>, const Q extends GetQuery<R> = Empty, Data = ResultOf<R, Q>>(
  resource: R,
  id: MaybeRefOrGetter<RecordId | null | undefined>,
  query?: MaybeRefOrGetter<Q> & Exact<R, Q, keyof GetQuery<R>>,
  options?: QueryOptions<ResultOf<R, Q>, Data>,
): UseQueryReturnType<Data, AutoApiError> {
  const key = () => {
    const known = toValue(id)
    return isMissing(known) ? undefined : toApiKey(resource, 'get', { id: toIdentity(resource, known), ...detail(query) })
  }
  return useApiQuery(key, loadWith(useClient(), 'get'), options)
}

/**
 * A list that grows: each page begins where the one before it ended.
 * @example
 * const { data, fetchNextPage, hasNextPage } = useAutoApiInfinite('posts', { sort: '-publishedAt', limit: 20 })
 */
export function useAutoApiInfinite<R extends ResourceWith<'read'>, const Q extends UnpagedQuery<R> = Empty>(
  resource: R,
  query?: MaybeRefOrGetter<Q> & Exact<R, Q, keyof UnpagedQuery<R>>,
  options?: InfiniteOptions<CursorResponse<R, Q>>,
): UseInfiniteQueryReturnType<InfiniteData<CursorResponse<R, Q>, string>, AutoApiError> {
  const client = useClient()
  return useApiPages<CursorResponse<R, Q>>(
    () => toApiKey(resource, 'infinite', detail(query)),
    ([, , , { query }], cursor, signal) => client.call({ route: 'list', resource, query: { ...query, cursor } }, signal),
    options,
  )
}

/**
 * What is computed over all rows, or over each group of them.
 * @example
 * const { data } = useAutoApiAggregate('posts', { aggregate: ['count', 'sum(views)'], groupBy: ['status'] })
 */
export function useAutoApiAggregate<
  R extends ResourceWith<'aggregate'>,
  const Q extends AggregateQuery<R> = Empty,
  Data = AggregateResponse<R, Q>,
>(
  resource: R,
  query?: MaybeRefOrGetter<Q> & Exact<R, Q, keyof AggregateQuery<R>>,
  options?: QueryOptions<AggregateResponse<R, Q>, Data>,
): UseQueryReturnType<Data, AutoApiError> {
  return useApiQuery(() => toApiKey(resource, 'aggregate', detail(query)), loadWith(useClient(), 'aggregate'), options)
}
