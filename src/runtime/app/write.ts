/** The write behind the writing composables: the request of an action, its tags, and the types of its options and its result. */
import { useQueryClient } from '@tanstack/vue-query'
import {
  ACTIONS, invalidationOf, type Action, type ActionResponses, type ActionVariables, type RecordTypes, type ResponseOf,
} from './actions'
import { useClient } from './client'
import { withCurrent, withTags, type IfMatchOptions } from './if-match'
import { useApiMutation, type MutationOptions, type MutationResult, type RetryOptions, type WriteOptions } from './mutation'
import type { AnyRecord } from './any-resource'

type Types = RecordTypes<never> | AnyRecord

export type ActionOptions<T extends Types, A extends Action, Context, D extends boolean, I = unknown>
  = MutationOptions<ResponseOf<T, A, D>, ActionVariables<T>[A], Context, ActionResponses<T>['update']>
    & WriteOptions<D> & RetryOptions & IfMatchOptions<A> & ConflictOptions<T, A> & IncludeOptions<A, I>

export type ActionResult<T extends Types, A extends Action, Context, D extends boolean>
  = MutationResult<ResponseOf<T, A, D>, ActionVariables<T>[A], Context, ActionResponses<T>['update']>

/** The option of each action that creates records. */
type ConflictOptions<T extends Types, A extends Action> = A extends 'create' | 'bulkCreate' ? {
  /**
   * The columns of a unique constraint. A record that has their values is updated instead. This needs the permission to update it. In the
   * response of a bulk, `meta` counts the `created` and the `updated` records.
   * @example
   * const { mutate } = useAutoApiCreate('tags', { onConflict: 'slug' })
   */
  readonly onConflict?: FieldOf<T> | readonly FieldOf<T>[]
} : unknown

/** The option of each action whose response contains the written records. */
type IncludeOptions<A extends Action, I> = A extends 'create' | 'update' | 'bulkCreate' | 'bulkUpdate' ? {
  /**
   * The relations that the records of the response contain, as in a query. They are read after the commit. A dry run has none.
   * @example
   * const { mutateAsync } = useAutoApiUpdate('orders', { include: { lines: true } })
   */
  readonly include?: I
} : unknown

/** The option `include` of a write without it. */
export type IncludesNothing = Record<never, never>

type FieldOf<T extends Types> = keyof T['create'] & string

/** The options of every action. */
type AnyOptions = MutationOptions<unknown, never> & WriteOptions<boolean> & RetryOptions & IfMatchOptions<'update'>
  & ConflictOptions<AnyRecord, 'create'> & IncludeOptions<'create', unknown>

export function useAction(
  resource: string,
  action: Action,
  { ifMatch = false, onConflict, include, ...options }: AnyOptions = {},
  optimistic?: (variables: never) => () => void,
): MutationResult<unknown, never> {
  const client = useClient()
  const queryClient = useQueryClient()
  return useApiMutation(
    {
      async send(variables, query, idempotencyKey) {
        const request = ACTIONS[action].request(variables)
        const call = { ...request, resource, query: { ...request.query, onConflict, include, ...query }, idempotencyKey }
        const tagged = withTags(call, ifMatch, queryClient)
        if (tagged === call) return client.call(call)
        return client.call(tagged).catch(async (error: unknown) => {
          throw await withCurrent(error, call, client)
        })
      },
      invalidates: variables => invalidationOf(action, resource, variables),
      optimistic,
    },
    options,
  )
}
