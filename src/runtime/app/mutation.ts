/** The mutation behind every writing composable: sends the request, updates the cache, then runs the caller's callbacks. */
import { useMutation, useQueryClient, type MutationObserverOptions, type UseMutationReturnType } from '@tanstack/vue-query'
import { invalidate, type Written } from './cache'
import type { AutoApiError } from './error'

/** TanStack's mutation options, except `mutationFn`. */
export type MutationOptions<Answer, Variables, Context = unknown> = Omit<
  MutationObserverOptions<Answer, AutoApiError, Variables, Context>,
  'mutationFn'
>

export type MutationResult<Answer, Variables, Context = unknown> = UseMutationReturnType<Answer, AutoApiError, Variables, Context>

export interface MutationSteps<Variables> {
  readonly send: (variables: Variables) => Promise<unknown>
  /** The changes of a successful request. */
  readonly written: (variables: Variables) => Written
  /** Changes the cache before the request; the returned function rolls the change back. */
  readonly optimistic?: (variables: Variables) => (() => void)
}

/** A caller's `onSuccess` runs after the cache is updated, and `onError` after an optimistic change is rolled back. */
export function useApiMutation<Answer, Variables, Context = unknown>(
  { send, written, optimistic }: MutationSteps<Variables>,
  options: MutationOptions<Answer, Variables, Context> = {},
): MutationResult<Answer, Variables, Context> {
  const client = useQueryClient()
  return useMutation<Answer, AutoApiError, Variables, Context>({
    ...(options as object),
    async mutationFn(variables) {
      const undo = optimistic?.(variables)
      try {
        return (await send(variables)) as Answer
      }
      catch (error) {
        undo?.()
        throw error
      }
    },
    async onSuccess(answer, variables, ...rest) {
      await invalidate(client, written(variables))
      await options.onSuccess?.(answer, variables, ...rest)
    },
  })
}
