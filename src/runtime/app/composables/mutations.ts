/** Writes: one composable for each, all of them faces of one. */
import { useQueryClient } from '@tanstack/vue-query'
import type { RecordId, ResourceName, ResourceWith } from '../../shared/types/resources'
import { ACTIONS, writtenBy, type Action, type ActionResponses, type ActionOn, type ActionVariables } from '../actions'
import { useClient } from '../client'
import { useApiMutation, type MutationOptions, type MutationResult } from '../mutation'
import { useAutoApiOptimisticUpdate } from '../optimistic'

type Options<R extends ResourceName, A extends Action, Context> = MutationOptions<ActionResponses<R>[A], ActionVariables<R>[A], Context>
type Result<R extends ResourceName, A extends Action, Context> = MutationResult<ActionResponses<R>[A], ActionVariables<R>[A], Context>

/**
 * Any write of a resource, by its name. Whatever was cached of it is asked for again before `onSuccess` runs.
 * @example
 * const { mutate } = useAutoApiMutation('posts', 'restore')
 */
export function useAutoApiMutation<R extends ResourceName, const A extends ActionOn<R>, Context = unknown>(
  resource: R,
  action: A,
  options?: Options<R, A, Context>,
): Result<R, A, Context> {
  return useAction(resource, action, options)
}

function useAction<R extends ResourceName, A extends Action, Context>(
  resource: R,
  action: A,
  options?: Options<R, A, Context>,
  foresee?: (variables: ActionVariables<R>[A]) => () => void,
): Result<R, A, Context> {
  const client = useClient()
  return useApiMutation(
    {
      send: variables => client.call({ ...ACTIONS[action].request(variables as never), resource }),
      written: variables => writtenBy(action, resource, variables),
      optimistic: foresee,
    },
    options,
  )
}

/**
 * @example
 * const { mutate, isPending, error } = useAutoApiCreate('posts', { onSuccess: post => navigateTo(`/posts/${post.id}`) })
 */
export function useAutoApiCreate<R extends ResourceWith<'create'>, Context = unknown>(
  resource: R,
  options?: Options<R, 'create', Context>,
): Result<R, 'create', Context> {
  return useAction(resource, 'create', options)
}

/**
 * Takes `{ id, ...fields }`.
 * @example
 * const { mutate } = useAutoApiUpdate('posts', { optimistic: true })
 * mutate({ id: 1, title: 'New' })
 */
export function useAutoApiUpdate<R extends ResourceWith<'update'>, Context = unknown>(
  resource: R,
  options: Options<R, 'update', Context> & {
    /**
     * Shows the change at once and takes it back when it is refused.
     * @default false
     */
    optimistic?: boolean
  } = {},
): Result<R, 'update', Context> {
  const queryClient = useQueryClient()
  const { optimistic = false, ...rest } = options
  return useAction(
    resource,
    'update',
    rest as Options<R, 'update', Context>,
    optimistic
      ? ({ id, ...updates }: { id: RecordId }) => useAutoApiOptimisticUpdate(queryClient, resource, id, updates as never).rollback
      : undefined,
  )
}

/**
 * Takes an id, or `{ id, reason }`.
 * @example
 * const { mutate } = useAutoApiDelete('posts')
 * mutate(1)
 */
export function useAutoApiDelete<R extends ResourceWith<'delete'>, Context = unknown>(
  resource: R,
  options?: Options<R, 'delete', Context>,
): Result<R, 'delete', Context> {
  return useAction(resource, 'delete', options)
}

/**
 * Brings back from the trash: takes an id, `{ ids }`, or the `{ deletionId }` of all that one deletion took along.
 * @example
 * const { mutate } = useAutoApiRestore('posts')
 * mutate({ deletionId: post.deletionId })
 */
export function useAutoApiRestore<R extends ResourceWith<'restore'>, Context = unknown>(
  resource: R,
  options?: Options<R, 'restore', Context>,
): Result<R, 'restore', Context> {
  return useAction(resource, 'restore', options)
}

/**
 * Removes for good: takes what `useAutoApiRestore` takes.
 * @example
 * const { mutate } = useAutoApiPurge('posts')
 * mutate({ ids: [1, 2] })
 */
export function useAutoApiPurge<R extends ResourceWith<'purge'>, Context = unknown>(
  resource: R,
  options?: Options<R, 'purge', Context>,
): Result<R, 'purge', Context> {
  return useAction(resource, 'purge', options)
}

/**
 * Takes a list of bodies: all are created, or none.
 * @example
 * const { mutate } = useAutoApiBulkCreate('tags')
 * mutate([{ name: 'Sport', slug: 'sport' }, { name: 'Culture', slug: 'culture' }])
 */
export function useAutoApiBulkCreate<R extends ResourceWith<'create'>, Context = unknown>(
  resource: R,
  options?: Options<R, 'bulkCreate', Context>,
): Result<R, 'bulkCreate', Context> {
  return useAction(resource, 'bulkCreate', options)
}

/**
 * Takes a list of `{ id, data }`: all are changed, or none.
 * @example
 * const { mutate } = useAutoApiBulkUpdate('posts')
 * mutate(chosen.map(id => ({ id, data: { status: 'archived' } })))
 */
export function useAutoApiBulkUpdate<R extends ResourceWith<'update'>, Context = unknown>(
  resource: R,
  options?: Options<R, 'bulkUpdate', Context>,
): Result<R, 'bulkUpdate', Context> {
  return useAction(resource, 'bulkUpdate', options)
}

/**
 * Takes a list of ids: all are deleted, or none.
 * @example
 * const { mutate } = useAutoApiBulkDelete('posts')
 * mutate([1, 2, 3])
 */
export function useAutoApiBulkDelete<R extends ResourceWith<'delete'>, Context = unknown>(
  resource: R,
  options?: Options<R, 'bulkDelete', Context>,
): Result<R, 'bulkDelete', Context> {
  return useAction(resource, 'bulkDelete', options)
}
