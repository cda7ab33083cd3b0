/** Requests the app's own endpoints, with the errors and the cache invalidation of the generated routes. */
import type { UseQueryReturnType } from '@tanstack/vue-query'
import { toValue, type MaybeRefOrGetter } from 'vue'
import type { EndpointPath, EndpointResponse } from '../../shared/types/endpoints'
import type { ResourceName } from '../../shared/types/resources'
import { useClient } from '../client'
import type { AutoApiError } from '../error'
import { toApiKey, type KeyDetails } from '../keys'
import { useApiMutation, type MutationOptions, type MutationResult, type WriteOptions } from '../mutation'
import { useApiQuery, type QueryOptions } from '../query'

type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface EndpointQuery {
  readonly method?: 'GET'
  readonly query?: MaybeRefOrGetter<Record<string, unknown>>
  /** The resources that the endpoint reads. A write to one of them refetches the response. @default [] */
  readonly resources?: readonly ResourceName[]
}

export interface EndpointWrite {
  readonly method: WriteMethod
  readonly query?: MaybeRefOrGetter<Record<string, unknown>>
  /** The resources that the endpoint writes. Their cached responses are refetched. @default [] */
  readonly resources?: readonly ResourceName[]
}

/**
 * Requests an endpoint of the app. For GET it returns a query. For any other method it returns a mutation, whose variables are the body.
 * The handler of the endpoint decides the type of the response. `error` is an `AutoApiError`.
 * @example
 * const { data: stats } = useAutoApiEndpoint('/api/stats', { resources: ['posts'] })
 * const { mutate: publish } = useAutoApiEndpoint(() => `/api/posts/${id.value}/publish`, { method: 'POST', resources: ['posts'] })
 */
export function useAutoApiEndpoint<P extends EndpointPath, const M extends WriteMethod, Body = void, Context = unknown>(
  path: MaybeRefOrGetter<P>,
  options: EndpointWrite & { readonly method: M } & WriteOptions<boolean> & MutationOptions<EndpointResponse<P, M>, Body, Context>,
): MutationResult<EndpointResponse<P, M>, Body, Context>
export function useAutoApiEndpoint<P extends EndpointPath, Data = EndpointResponse<P, 'GET'>>(
  path: MaybeRefOrGetter<P>,
  options?: EndpointQuery & QueryOptions<EndpointResponse<P, 'GET'>, Data>,
): UseQueryReturnType<Data, AutoApiError>
export function useAutoApiEndpoint(
  path: MaybeRefOrGetter<string>,
  { method = 'GET', query, resources = [], ...options }: (EndpointQuery | EndpointWrite) & object = {},
): unknown {
  const client = useClient()
  if (method !== 'GET') {
    return useApiMutation(
      {
        send: (body, added) => client.send(method, toValue(path), { ...toValue(query), ...added }, body),
        invalidates: () => ({ resources: new Set<string>(resources) }),
      },
      options,
    )
  }
  return useApiQuery(
    () => toApiKey(toValue(path), 'endpoint', { query: toValue(query) as KeyDetails['query'], reads: resources }),
    ([, path, , { query }], signal) => client.send('GET', path, query, undefined, signal),
    options,
  )
}
