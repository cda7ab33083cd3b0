/** Composables that write: one for each action. All of them use the same mutation. */
import { useQueryClient } from '@tanstack/vue-query'
import type { RecordId, ResourceName, ResourceWith } from '../../shared/types/resources'
import {
  ACTIONS, invalidationOf, type Action, type ActionOn, type ActionResponses, type ActionVariables, type ResponseOf,
} from '../actions'
import { useClient } from '../client'
import { withCurrent, withTags, type IfMatchOptions } from '../if-match'
import { useApiMutation, type MutationOptions, type MutationResult, type RetryOptions, type WriteOptions } from '../mutation'
import { useAutoApiOptimisticUpdate } from '../optimistic'

/** A resource in which records can be created. */
export type Creatable = ResourceWith<'create'>

type Options<R extends ResourceName, A extends Action, Context, D extends boolean>
  = MutationOptions<ResponseOf<R, A, D>, ActionVariables<R>[A], Context, ActionResponses<R>['update']>
    & WriteOptions<D> & RetryOptions & IfMatchOptions<A>
type Result<R extends ResourceName, A extends Action, Context, D extends boolean>
  = MutationResult<ResponseOf<R, A, D>, ActionVariables<R>[A], Context, ActionResponses<R>['update']>

/**
 * Writes to a resource. The action is `create`, `update`, `delete`, `restore`, `purge`, `bulkCreate`, `bulkUpdate` or
 * `bulkDelete`. Stale responses are refetched before `onSuccess` runs. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiMutation('posts', 'restore')
 */
export function useAutoApiMutation<R extends ResourceName, const A extends ActionOn<R>, Context = unknown, D extends boolean = false>(
  resource: R,
  action: A,
  options?: Options<R, A, Context, D>,
): Result<R, A, Context, D> {
  return useAction(resource, action, options)
}

function useAction<R extends ResourceName, A extends Action, Context, D extends boolean>(
  resource: R,
  action: A,
  options?: Options<R, A, Context, D>,
  applyOptimistically?: (variables: ActionVariables<R>[A]) => () => void,
): Result<R, A, Context, D> {
  const client = useClient()
  const queryClient = useQueryClient()
  const { ifMatch = false, ...rest } = (options ?? {}) as Options<R, 'update', Context, D>
  return useApiMutation(
    {
      async send(variables, query, idempotencyKey) {
        const request = ACTIONS[action].request(variables as never)
        const call = { ...request, resource, query: { ...request.query, ...query }, idempotencyKey }
        const tagged = withTags(call, ifMatch, queryClient)
        if (tagged === call) return client.call(call)
        return client.call(tagged).catch(async (error: unknown) => {
          throw await withCurrent(error, call, client)
        })
      },
      invalidates: variables => invalidationOf(action, resource, variables),
      optimistic: applyOptimistically,
    },
    rest as Options<R, A, Context, D>,
  )
}

/**
 * Creates a record: `mutate({ ...fields })`. Resolves to the new record. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate, isPending, error } = useAutoApiCreate('posts', { onSuccess: post => navigateTo(`/posts/${post.id}`) })
 */
export function useAutoApiCreate<R extends ResourceWith<'create'>, Context = unknown, D extends boolean = false>(
  resource: R,
  options?: Options<R, 'create', Context, D>,
): Result<R, 'create', Context, D> {
  return useAction(resource, 'create', options)
}

/**
 * Updates a record: `mutate({ id, ...fields })`. Resolves to the changed record. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiUpdate('posts', { optimistic: true })
 * mutate({ id: 1, title: 'New' })
 */
export function useAutoApiUpdate<R extends ResourceWith<'update'>, Context = unknown, D extends boolean = false>(
  resource: R,
  options: Options<R, 'update', Context, D> & {
    /**
     * Changes cached records before the request. If the request fails, the change is rolled back. A dry run changes none.
     * @default false
     */
    optimistic?: D extends true ? false : boolean
  } = {},
): Result<R, 'update', Context, D> {
  const queryClient = useQueryClient()
  const { optimistic = false, ...rest } = options as typeof options & { optimistic?: boolean }
  return useAction(
    resource,
    'update',
    rest as Options<R, 'update', Context, D>,
    optimistic
      ? ({ id, ...updates }: { id: RecordId }) => useAutoApiOptimisticUpdate(queryClient, resource, id, updates as never).rollback
      : undefined,
  )
}

/**
 * Deletes a record: `mutate(id)` or `mutate({ id, reason })`. Resolves to `{ success, softDeleted, deletionId? }`.
 * `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiDelete('posts')
 * mutate(1)
 */
export function useAutoApiDelete<R extends ResourceWith<'delete'>, Context = unknown, D extends boolean = false>(
  resource: R,
  options?: Options<R, 'delete', Context, D>,
): Result<R, 'delete', Context, D> {
  return useAction(resource, 'delete', options)
}

/**
 * Restores records from the trash: `mutate(id)`, `mutate({ ids })`, or `mutate({ deletionId })` for all records of one cascading deletion.
 * Resolves to the record, or to `{ data, meta }` for several. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiRestore('posts')
 * mutate({ deletionId: post.deletionId })
 */
export function useAutoApiRestore<R extends ResourceWith<'restore'>, Context = unknown, D extends boolean = false>(
  resource: R,
  options?: Options<R, 'restore', Context, D>,
): Result<R, 'restore', Context, D> {
  return useAction(resource, 'restore', options)
}

/**
 * Removes records permanently: `mutate(id)`, `mutate({ ids })` or `mutate({ deletionId })`. Resolves to `{ success, softDeleted }`, or to
 * `{ data, meta }` for several. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiPurge('posts')
 * mutate({ ids: [1, 2] })
 */
export function useAutoApiPurge<R extends ResourceWith<'purge'>, Context = unknown, D extends boolean = false>(
  resource: R,
  options?: Options<R, 'purge', Context, D>,
): Result<R, 'purge', Context, D> {
  return useAction(resource, 'purge', options)
}

/**
 * Creates all records of a list, or none: `mutate([{ ...fields }, …])`. Resolves to `{ data, meta }`. `mutateAsync` rejects with an
 * `AutoApiError`, whose `errors` name the failed items.
 * @example
 * const { mutate } = useAutoApiBulkCreate('tags')
 * mutate([{ name: 'Sport', slug: 'sport' }, { name: 'Culture', slug: 'culture' }])
 */
export function useAutoApiBulkCreate<R extends ResourceWith<'create'>, Context = unknown, D extends boolean = false>(
  resource: R,
  options?: Options<R, 'bulkCreate', Context, D>,
): Result<R, 'bulkCreate', Context, D> {
  return useAction(resource, 'bulkCreate', options)
}

/**
 * Updates all records of a list, or none: `mutate([{ id, data }, …])`. Resolves to `{ data, meta }`. `mutateAsync` rejects with an
 * `AutoApiError`, whose `errors` name the failed items.
 * @example
 * const { mutate } = useAutoApiBulkUpdate('posts')
 * mutate(chosen.map(id => ({ id, data: { status: 'archived' } })))
 */
export function useAutoApiBulkUpdate<R extends ResourceWith<'update'>, Context = unknown, D extends boolean = false>(
  resource: R,
  options?: Options<R, 'bulkUpdate', Context, D>,
): Result<R, 'bulkUpdate', Context, D> {
  return useAction(resource, 'bulkUpdate', options)
}

/**
 * Deletes all records of a list, or none: `mutate([1, 2, 3])`. Resolves to `{ data, meta }`. `mutateAsync` rejects with an `AutoApiError`,
 * whose `errors` name the failed items.
 * @example
 * const { mutate } = useAutoApiBulkDelete('posts')
 * mutate([1, 2, 3])
 */
export function useAutoApiBulkDelete<R extends ResourceWith<'delete'>, Context = unknown, D extends boolean = false>(
  resource: R,
  options?: Options<R, 'bulkDelete', Context, D>,
): Result<R, 'bulkDelete', Context, D> {
  return useAction(resource, 'bulkDelete', options)
}
