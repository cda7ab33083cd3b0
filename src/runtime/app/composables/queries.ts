/** Composables that read: lists, records, infinite lists and aggregates. */
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
import type { CursorPage, Groups, OnlyAtRunTime, Page, Query, Row } from '../any-resource'

type Empty = Record<never, never>
type Id = MaybeRefOrGetter<RecordId | null | undefined>
const detail = (query: unknown) => ({ query: toValue(query) as KeyDetails['query'] })

/**
 * Reads one page of a resource: `{ data: [...], meta: { page, limit, total } }`. With `cursor` in the query, `meta` has `nextCursor`
 * instead of `page` and `total`. Refetches when the query changes. `error` is an `AutoApiError`.
 * @example
 * const { data, isPending } = useAutoApiList('posts', () => ({ filter: { status: 'draft' }, sort: '-id', page: page.value }))
 */
export function useAutoApiList<R extends ResourceWith<'read'>, const Q extends ListQuery<R> = Empty, Data = ListResponse<R, Q>>(
  resource: R,
  query?: MaybeRefOrGetter<Q> & Exact<R, Q, keyof ListQuery<R>>,
  options?: QueryOptions<ListResponse<R, Q>, Data>,
): UseQueryReturnType<Data, AutoApiError>
/** Reads one page of a resource whose name is known only at run time. */
export function useAutoApiList<N extends string, L extends OnlyAtRunTime<N>, Data = Page>(
  resource: N, query?: MaybeRefOrGetter<Query>, options?: QueryOptions<Page, Data>, ...literal: L
): UseQueryReturnType<Data, AutoApiError>
export function useAutoApiList(resource: string, query?: unknown, options?: object): unknown {
  return useApiQuery(() => toApiKey(resource, 'list', detail(query)), loadWith(useClient(), 'list'), options)
}

/**
 * Reads one record. Sends no request while the id is missing. `error.status` is 404 if the record does not exist or the caller cannot
 * see it.
 * @example
 * const { data: post, error } = useAutoApiGet('posts', () => route.params.id, { include: { author: true } })
 */
export function useAutoApiGet<R extends ResourceWith<'read'>, const Q extends GetQuery<R> = Empty, Data = ResultOf<R, Q>>(
  resource: R,
  id: Id,
  query?: MaybeRefOrGetter<Q> & Exact<R, Q, keyof GetQuery<R>>,
  options?: QueryOptions<ResultOf<R, Q>, Data>,
): UseQueryReturnType<Data, AutoApiError>
/** Reads one record of a resource whose name is known only at run time. */
export function useAutoApiGet<N extends string, L extends OnlyAtRunTime<N>, Data = Row>(
  resource: N, id: Id, query?: MaybeRefOrGetter<Query>, options?: QueryOptions<Row, Data>, ...literal: L
): UseQueryReturnType<Data, AutoApiError>
export function useAutoApiGet(resource: string, id: Id, query?: unknown, options?: object): unknown {
  const key = () => {
    const recordId = toValue(id)
    return isMissing(recordId) ? undefined : toApiKey(resource, 'get', { id: toIdentity(resource, recordId), ...detail(query) })
  }
  return useApiQuery(key, loadWith(useClient(), 'get'), options)
}

/**
 * Reads an infinite list by cursor. `data.pages` contains one `{ data, meta: { limit, hasMore, nextCursor } }` per page.
 * `fetchNextPage()` loads the next page. `error` is an `AutoApiError`.
 * @example
 * const { data, fetchNextPage, hasNextPage } = useAutoApiInfinite('posts', { sort: '-publishedAt', limit: 20 })
 */
export function useAutoApiInfinite<R extends ResourceWith<'read'>, const Q extends UnpagedQuery<R> = Empty>(
  resource: R,
  query?: MaybeRefOrGetter<Q> & Exact<R, Q, keyof UnpagedQuery<R>>,
  options?: InfiniteOptions<CursorResponse<R, Q>>,
): UseInfiniteQueryReturnType<InfiniteData<CursorResponse<R, Q>, string>, AutoApiError>
/** Reads an infinite list of a resource whose name is known only at run time. */
export function useAutoApiInfinite<N extends string, L extends OnlyAtRunTime<N>>(
  resource: N, query?: MaybeRefOrGetter<Query>, options?: InfiniteOptions<CursorPage>, ...literal: L
): UseInfiniteQueryReturnType<InfiniteData<CursorPage, string>, AutoApiError>
export function useAutoApiInfinite(resource: string, query?: unknown, options?: object): unknown {
  const client = useClient()
  return useApiPages(
    () => toApiKey(resource, 'infinite', detail(query)),
    ([, , , { query }], cursor, signal) => client.call({ route: 'list', resource, query: { ...query, cursor } }, signal),
    options,
  )
}

/**
 * Aggregates over all rows, or over each group: `{ data: [{ group: { status: 'draft' }, count: 3, sum_views: 12 }], meta: { total } }`.
 * Without `groupBy`, `data` has one entry without `group`. `error` is an `AutoApiError`.
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
): UseQueryReturnType<Data, AutoApiError>
/** Aggregates over the rows of a resource whose name is known only at run time. */
export function useAutoApiAggregate<N extends string, L extends OnlyAtRunTime<N>, Data = Groups>(
  resource: N, query?: MaybeRefOrGetter<Query>, options?: QueryOptions<Groups, Data>, ...literal: L
): UseQueryReturnType<Data, AutoApiError>
export function useAutoApiAggregate(resource: string, query?: unknown, options?: object): unknown {
  return useApiQuery(() => toApiKey(resource, 'aggregate', detail(query)), loadWith(useClient(), 'aggregate'), options)
}
