/** The mutation that every writing composable uses: it sends the request, updates the cache, then runs the caller's callbacks. */
import { useMutation, useQueryClient, type MutationObserverOptions, type UseMutationReturnType } from '@tanstack/vue-query'
import { invalidate, type Invalidation } from './cache'
import type { AutoApiError } from './error'

/** TanStack's mutation options, except `mutationFn`. */
export type MutationOptions<Data, Variables, Context = unknown, Current = unknown> = Omit<
  MutationObserverOptions<Data, AutoApiError<Current>, Variables, Context>,
  'mutationFn'
>

/** The options of a write, beside those of TanStack. */
export interface WriteOptions<D extends boolean> {
  /**
   * Sends a dry run: the server checks everything and writes nothing. The cache does not change.
   * @default false
   */
  readonly dryRun?: D
}

export type MutationResult<Data, Variables, Context = unknown, Current = unknown>
  = UseMutationReturnType<Data, AutoApiError<Current>, Variables, Context>

export interface MutationHandlers<Variables> {
  /** @param query the parameters of the write's options */
  readonly send: (variables: Variables, query: object) => Promise<unknown>
  /** The cached responses that a successful request makes stale. */
  readonly invalidates: (variables: Variables) => Invalidation
  /** Changes the cache before the request; the returned function rolls the change back. */
  readonly optimistic?: (variables: Variables) => (() => void)
}

/** The caller's `onSuccess` runs after the cache is updated. The caller's `onError` runs after an optimistic change is rolled back. */
export function useApiMutation<Data, Variables, Context = unknown, Current = unknown>(
  { send, invalidates, optimistic }: MutationHandlers<Variables>,
  { dryRun = false, ...options }: MutationOptions<Data, Variables, Context, Current> & WriteOptions<boolean> = {},
): MutationResult<Data, Variables, Context, Current> {
  const client = useQueryClient()
  return useMutation<Data, AutoApiError<Current>, Variables, Context>({
    ...(options as object),
    async mutationFn(variables) {
      const undo = dryRun ? undefined : optimistic?.(variables)
      try {
        return (await send(variables, dryRun ? { dryRun } : {})) as Data
      }
      catch (error) {
        undo?.()
        throw error
      }
    },
    async onSuccess(data, variables, ...rest) {
      if (!dryRun) await invalidate(client, invalidates(variables))
      await options.onSuccess?.(data, variables, ...rest)
    },
  })
}
