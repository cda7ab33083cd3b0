/** What every reading composable is: a TanStack query with our key, rendered on the server and not asked for again in the browser. */
import {
  useInfiniteQuery,
  useQuery,
  type InfiniteData,
  type InfiniteQueryObserverOptions,
  type QueryObserverOptions,
  type UseInfiniteQueryReturnType,
  type UseQueryReturnType,
} from '@tanstack/vue-query'
import { computed, getCurrentInstance, onServerPrefetch, reactive, toValue, type MaybeRefOrGetter } from 'vue'
import type { Client } from './client'
import type { AutoApiError } from './error'
import type { ApiKey } from './keys'
import { useNuxtApp } from './nuxt'

/** TanStack's options, without those that are ours. */
export type QueryOptions<Answer, Data = Answer> = Omit<
  QueryObserverOptions<Answer, AutoApiError, Data>,
  'queryKey' | 'queryFn' | 'queryHash' | 'queryKeyHashFn' | 'enabled'
> & {
  /** Nothing is asked for while it is false. */
  readonly enabled?: MaybeRefOrGetter<boolean>
}

export type InfiniteOptions<Page> = Omit<
  InfiniteQueryObserverOptions<Page, AutoApiError>,
  'queryKey' | 'queryFn' | 'queryHash' | 'queryKeyHashFn' | 'enabled' | 'initialPageParam' | 'getNextPageParam' | 'select'
> & {
  /** Nothing is asked for while it is false. */
  readonly enabled?: MaybeRefOrGetter<boolean>
}

/** The key of what is asked for; `undefined` while that cannot be said yet. */
type KeyGetter = () => ApiKey | undefined

/** @param load asks for what a key stands for. */
export function useApiQuery<Answer, Data>(
  key: KeyGetter,
  load: (key: ApiKey, signal: AbortSignal) => Promise<unknown>,
  options: QueryOptions<Answer, Data> = {},
): UseQueryReturnType<Data, AutoApiError> {
  const { enabled, ...rest } = toOptions(key, options.enabled)
  const query = useQuery(
    computed(
      () =>
        ({
          ...rest,
          ...options,
          enabled: enabled.value,
          queryKey: key() ?? NO_KEY,
          queryFn: ({ queryKey, signal }: { queryKey: unknown, signal: AbortSignal }) => load(queryKey as ApiKey, signal),
        }) as never,
    ),
  )
  return withPrefetch(query, enabled) as unknown as UseQueryReturnType<Data, AutoApiError>
}

/** Page after page by cursor; the first one has the empty cursor. */
export function useApiPages<Page extends { meta: { nextCursor: string | null } }>(
  key: KeyGetter,
  load: (key: ApiKey, cursor: string, signal: AbortSignal) => Promise<unknown>,
  options: InfiniteOptions<Page> = {},
): UseInfiniteQueryReturnType<InfiniteData<Page, string>, AutoApiError> {
  const { enabled, ...rest } = toOptions(key, options.enabled)
  const query = useInfiniteQuery(
    computed(
      () =>
        ({
          ...rest,
          ...options,
          enabled: enabled.value,
          queryKey: key() ?? NO_KEY,
          initialPageParam: '',
          getNextPageParam: ({ meta }: Page) => meta.nextCursor ?? undefined,
          queryFn: ({ queryKey, pageParam, signal }: { queryKey: unknown, pageParam: unknown, signal: AbortSignal }) =>
            load(queryKey as ApiKey, pageParam as string, signal),
        }) as never,
    ),
  )
  return withPrefetch(query, enabled) as unknown as UseInfiniteQueryReturnType<InfiniteData<Page, string>, AutoApiError>
}

const NO_KEY = ['auto-api', 'nothing']

/** Told once, in `setup`. The caller's own options come after them. */
function toOptions(key: KeyGetter, enabled: MaybeRefOrGetter<boolean> = true) {
  const { isHydrating = false } = useNuxtApp()
  return {
    enabled: computed(() => toValue(enabled) && key() !== undefined),
    retry: (count: number, { status }: AutoApiError) => !import.meta.server && count < 2 && (status === 0 || status >= 500),
    // One page is one moment: what a component has read, the next one need not read again.
    ...import.meta.server && { staleTime: Infinity },
    // What the server has rendered is not asked for again, be it an answer or a refusal.
    ...isHydrating && { refetchOnMount: false, retryOnMount: false },
  }
}

interface SuspendableQuery {
  readonly status: { readonly value: 'pending' | 'error' | 'success' }
  readonly suspense: () => Promise<unknown>
}

/**
 * The server waits for the answer before it renders. TanStack's own `suspense` would wait for ever for what is not asked
 * for, and ask again for what the page has brought along.
 */
function withPrefetch<Query extends SuspendableQuery>(query: Query, enabled: { readonly value: boolean }): Query {
  const suspense = () => enabled.value && query.status.value === 'pending' ? query.suspense() : Promise.resolve(reactive({ ...query }))
  if (import.meta.server && getCurrentInstance()) onServerPrefetch(suspense)
  return { ...query, suspense }
}

/** Asks for what a key stands for. */
export function loadWith(client: Client, route: 'list' | 'get' | 'aggregate' | 'related' | 'resource-permissions') {
  return ([, resource, , { id, relation, query }]: ApiKey, signal: AbortSignal): Promise<unknown> =>
    client.call({ route, resource, id: id ?? undefined, relation, query }, signal)
}
