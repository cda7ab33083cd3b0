/** The one mutation helper: sends, brings the cache up to date, then lets the caller's own callbacks run. */
import { useMutation, useQueryClient, type MutationObserverOptions, type UseMutationReturnType } from '@tanstack/vue-query'
import { invalidate, type Written } from './cache'
import type { AutoApiError } from './error'

/** TanStack's options, without the one that is ours. */
export type MutationOptions<Answer, Variables, Context = unknown> = Omit<
  MutationObserverOptions<Answer, AutoApiError, Variables, Context>,
  'mutationFn'
>

export type MutationResult<Answer, Variables, Context = unknown> = UseMutationReturnType<Answer, AutoApiError, Variables, Context>

export interface MutationSteps<Variables> {
  readonly send: (variables: Variables) => Promise<unknown>
  /** What is out of date once it has succeeded. */
  readonly written: (variables: Variables) => Written
  /** Shown at once; the returned function takes it back. */
  readonly optimistic?: (variables: Variables) => (() => void)
}

/** The built-in part comes first and is not replaced: a caller's `onSuccess` finds the cache up to date, an `onError` what was shown taken back. */
export function useApiMutation<Answer, Variables, Context = unknown>(
  { send, written, optimistic: foresee }: MutationSteps<Variables>,
  options: MutationOptions<Answer, Variables, Context> = {},
): MutationResult<Answer, Variables, Context> {
  const client = useQueryClient()
  return useMutation<Answer, AutoApiError, Variables, Context>({
    ...(options as object),
    async mutationFn(variables) {
      const undo = foresee?.(variables)
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
