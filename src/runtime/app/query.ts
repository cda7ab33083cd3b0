/** The query that every reading composable uses: a TanStack query that runs on the server and is not refetched during hydration. */
import {
  InfiniteQueryObserver,
  QueryObserver,
  useInfiniteQuery,
  useQuery,
  type InfiniteData,
  type InfiniteQueryObserverOptions,
  type QueryObserverOptions,
  type UseInfiniteQueryReturnType,
  type UseQueryReturnType,
} from '@tanstack/vue-query'
import { computed, getCurrentInstance, onServerPrefetch, reactive, toValue, type MaybeRefOrGetter } from 'vue'
import type { QueryExtensions } from '../shared/types/query-extensions'
import type { Client } from './client'
import type { AutoApiError } from './error'
import type { ApiKey } from './keys'
import { useNuxtApp } from './nuxt'
import { extendQuery } from './query-extensions'
import { useServerQuery } from './server-query'
import { shareWithTag } from './tags'

/** TanStack's query options, except the key and the query function. */
export type QueryOptions<ResponseBody, Data = ResponseBody> = Omit<
  QueryObserverOptions<ResponseBody, AutoApiError, Data>,
  'queryKey' | 'queryFn' | 'queryHash' | 'queryKeyHashFn' | 'enabled'
> & QueryExtensions & {
  /** Sends no request while it is false. @default true */
  readonly enabled?: MaybeRefOrGetter<boolean>
}

export type InfiniteOptions<Page> = Omit<
  InfiniteQueryObserverOptions<Page, AutoApiError>,
  'queryKey' | 'queryFn' | 'queryHash' | 'queryKeyHashFn' | 'enabled' | 'initialPageParam' | 'getNextPageParam' | 'select'
> & QueryExtensions & {
  /** Sends no request while it is false. @default true */
  readonly enabled?: MaybeRefOrGetter<boolean>
}

/** The key of the request; `undefined` while a parameter is missing. */
type KeyGetter = () => ApiKey | undefined

/**
 * Creates a query.
 * @param load sends the request of a key
 */
export function useApiQuery<ResponseBody, Data>(
  key: KeyGetter,
  load: (key: ApiKey, signal: AbortSignal) => Promise<unknown>,
  options: QueryOptions<ResponseBody, Data> = {},
): UseQueryReturnType<Data, AutoApiError> {
  const { enabled, ...rest } = toOptions(key, options.enabled)
  const query = useObserver(QueryObserver, useQuery, () => ({
    ...rest,
    ...options,
    structuralSharing: shareWithTag(options.structuralSharing as boolean | undefined),
    enabled: enabled.value,
    queryKey: key() ?? NO_KEY,
    queryFn: ({ queryKey, signal }: { queryKey: unknown, signal: AbortSignal }) => load(queryKey as ApiKey, signal),
  }))
  extendQuery({ key, options, enabled })
  return withPrefetch(query, enabled) as unknown as UseQueryReturnType<Data, AutoApiError>
}

/** Creates an infinite query, which loads pages by cursor. The cursor of the first page is empty. */
export function useApiPages<Page extends { meta: { nextCursor: string | null } }>(
  key: KeyGetter,
  load: (key: ApiKey, cursor: string, signal: AbortSignal) => Promise<unknown>,
  options: InfiniteOptions<Page> = {},
): UseInfiniteQueryReturnType<InfiniteData<Page, string>, AutoApiError> {
  const { enabled, ...rest } = toOptions(key, options.enabled)
  const query = useObserver(InfiniteQueryObserver, useInfiniteQuery, () => ({
    ...rest,
    ...options,
    enabled: enabled.value,
    queryKey: key() ?? NO_KEY,
    initialPageParam: '',
    getNextPageParam: ({ meta }: Page) => meta.nextCursor ?? undefined,
    queryFn: ({ queryKey, pageParam, signal }: { queryKey: unknown, pageParam: unknown, signal: AbortSignal }) =>
      load(queryKey as ApiKey, pageParam as string, signal),
  }))
  extendQuery({ key, options, enabled })
  return withPrefetch(query, enabled) as unknown as UseInfiniteQueryReturnType<InfiniteData<Page, string>, AutoApiError>
}

const NO_KEY = ['auto-api', 'nothing']

/** Returns the options that are set once, in `setup`. The caller's own options override them. */
function toOptions(key: KeyGetter, enabled: MaybeRefOrGetter<boolean> = true) {
  const { isHydrating = false } = useNuxtApp()
  return {
    enabled: computed(() => toValue(enabled) && key() !== undefined),
    retry: (count: number, { status }: AutoApiError) => !import.meta.server && count < 2 && (status === 0 || status >= 500),
    // On the server, components of one page share a response. Nothing changes it while they render, so it needs no proxies.
    ...import.meta.server && { staleTime: Infinity, shallow: true },
    // Hydration refetches neither responses nor errors that the server has rendered.
    ...isHydrating && { refetchOnMount: false, retryOnMount: false },
  }
}

type Observe = (options: never) => unknown

/** @param useTanStack the composable of TanStack with the same observer */
function useObserver(Observer: new (...options: never) => object, useTanStack: Observe, options: () => object): SuspendableQuery {
  const isRendered = import.meta.server && getCurrentInstance() !== null
  return (isRendered ? useServerQuery(Observer as never, options as never) : useTanStack(computed(options) as never)) as SuspendableQuery
}

interface SuspendableQuery {
  readonly status: { readonly value: 'pending' | 'error' | 'success' }
  readonly suspense: () => Promise<unknown>
}

/**
 * Makes the server wait for the response before it renders. TanStack's own `suspense` would wait forever for a disabled query, and
 * refetch a hydrated one.
 */
function withPrefetch<Query extends SuspendableQuery>(query: Query, enabled: { readonly value: boolean }): Query {
  const suspense = () => enabled.value && query.status.value === 'pending' ? query.suspense() : Promise.resolve(reactive({ ...query }))
  if (getCurrentInstance()) onPrefetch(suspense)
  return { ...query, suspense }
}

/**
 * Vue runs these functions only on the server, but `useId` counts the components with one, and both sides have to count the same. Nuxt
 * removes calls of `onServerPrefetch` from the code of the browser: it finds them by this name.
 */
const onPrefetch = onServerPrefetch

/** Creates the function that sends the request of a key. */
export function loadWith(client: Client, route: 'list' | 'get' | 'aggregate' | 'related' | 'resource-permissions') {
  return ([, resource, , { id, relation, query }]: ApiKey, signal: AbortSignal): Promise<unknown> =>
    client.call({ route, resource, id: id ?? undefined, relation, query }, signal)
}
