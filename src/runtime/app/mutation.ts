/** The mutation that every writing composable uses: it sends the request, updates the cache, then runs the caller's callbacks. */
import { useMutation, useQueryClient, type MutationObserverOptions, type UseMutationReturnType } from '@tanstack/vue-query'
import { invalidate, type Invalidation } from './cache'
import type { AutoApiError } from './error'

/** TanStack's mutation options, except `mutationFn`. */
export type MutationOptions<Data, Variables, Context = unknown> = Omit<
  MutationObserverOptions<Data, AutoApiError, Variables, Context>,
  'mutationFn'
>

export type MutationResult<Data, Variables, Context = unknown> = UseMutationReturnType<Data, AutoApiError, Variables, Context>

export interface MutationHandlers<Variables> {
  readonly send: (variables: Variables) => Promise<unknown>
  /** The cached responses that a successful request makes stale. */
  readonly invalidates: (variables: Variables) => Invalidation
  /** Changes the cache before the request; the returned function rolls the change back. */
  readonly optimistic?: (variables: Variables) => (() => void)
}

/** The caller's `onSuccess` runs after the cache is updated. The caller's `onError` runs after an optimistic change is rolled back. */
export function useApiMutation<Data, Variables, Context = unknown>(
  { send, invalidates, optimistic }: MutationHandlers<Variables>,
  options: MutationOptions<Data, Variables, Context> = {},
): MutationResult<Data, Variables, Context> {
  const client = useQueryClient()
  return useMutation<Data, AutoApiError, Variables, Context>({
    ...(options as object),
    async mutationFn(variables) {
      const undo = optimistic?.(variables)
      try {
        return (await send(variables)) as Data
      }
      catch (error) {
        undo?.()
        throw error
      }
    },
    async onSuccess(data, variables, ...rest) {
      await invalidate(client, invalidates(variables))
      await options.onSuccess?.(data, variables, ...rest)
    },
  })
}
