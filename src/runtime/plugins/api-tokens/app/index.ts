/** Composables for API tokens: a new secret, and what a token can do. */
import type { CreatedRecord, RecordId, ResourceWith } from '../../../shared/types/resources'
import type { Introspection, TokenResource } from '../shared/types'
import { useClient } from '../../../app/client'
import { useApiMutation, type MutationOptions, type MutationResult } from '../../../app/mutation'
import type { OnlyAtRunTime, Row } from '../../../app/any-resource'
import { prefix } from '../../../app/nuxt'

export type { Introspection as AutoApiIntrospection } from '../shared/types'

/**
 * Gives an API token a new secret: `mutate(id)`. Resolves to the record with `token`, which no other response contains. The old secret
 * stays valid for the grace period of the plugin `apiTokens`. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiTokenRotate('apiTokens', { onSuccess: ({ token }) => show(token) })
 */
export function useAutoApiTokenRotate<R extends TokenResource & ResourceWith<'update'>, Context = unknown>(
  resource: R,
  options?: MutationOptions<CreatedRecord<R>, RecordId, Context>,
): MutationResult<CreatedRecord<R>, RecordId, Context>
/** Gives an API token of a resource whose name is known only at run time a new secret. */
export function useAutoApiTokenRotate<N extends string, L extends OnlyAtRunTime<N>, Context = unknown>(
  resource: N, options?: MutationOptions<Row, RecordId, Context>, ...literal: L
): MutationResult<Row, RecordId, Context>
export function useAutoApiTokenRotate(resource: string, options?: MutationOptions<Row, RecordId>): MutationResult<Row, RecordId> {
  const client = useClient()
  return useApiMutation({
    send: (id: RecordId) => client.call({ route: 'get', resource, id, below: ['POST', 'rotate'] }),
    invalidates: () => ({ resources: new Set<string>([resource]) }),
  }, options)
}

/**
 * Asks what an API token can do now: `mutate(token)`. Requires the plugin `tokenIntrospection`. It is a mutation and not a query, so that
 * no cache contains the token.
 * @example
 * const { mutate, data } = useAutoApiTokenIntrospect()
 */
export function useAutoApiTokenIntrospect<Context = unknown>(
  options?: MutationOptions<Introspection, string, Context>,
): MutationResult<Introspection, string, Context> {
  const client = useClient()
  return useApiMutation({
    send: (token: string) => client.send('POST', `${prefix}/tokens/introspect`, {}, { token }),
    invalidates: () => ({ resources: new Set<string>() }),
  }, options)
}
