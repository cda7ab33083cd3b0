/** The mutation that every writing composable uses: it sends the request, updates the cache, then runs the caller's callbacks. */
import {
  useMutation, useQueryClient, type MutationObserverOptions, type QueryClient, type UseMutationReturnType,
} from '@tanstack/vue-query'
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

/** The options of a write that takes effect only once. */
export interface RetryOptions {
  /**
   * Sends a new `Idempotency-Key` with each `mutate`, and the same key with its retries. Requires the plugin `idempotency`.
   * @default false
   */
  readonly idempotencyKey?: boolean
}

export type MutationResult<Data, Variables, Context = unknown, Current = unknown>
  = UseMutationReturnType<Data, AutoApiError<Current>, Variables, Context>

export interface MutationHandlers<Variables> {
  /**
   * @param query the parameters of the write's options
   * @param key the key of this call of `mutate`, which its retries share
   */
  readonly send: (variables: Variables, query: object, key: string | undefined) => Promise<unknown>
  /** The cached responses that a successful request makes stale. */
  readonly invalidates: (variables: Variables) => Invalidation
  /** Changes the cache before the request; the returned function rolls the change back. */
  readonly optimistic?: (variables: Variables) => (() => void)
}

/** What the mutations of this file change, by their function: TanStack keeps it in each of them. */
const changes = new WeakMap<object, (variables: never) => Invalidation>()

/** Returns the resources that requests which have not settled yet change. */
export function pendingResources(client: QueryClient): ReadonlySet<string> {
  const pending = client.getMutationCache().findAll({ status: 'pending' })
  return new Set(pending.flatMap(({ options: { mutationFn }, state: { variables } }) =>
    [...(mutationFn && changes.get(mutationFn)?.(variables as never).resources) ?? []]))
}

/** The caller's `onSuccess` runs after the cache is updated. The caller's `onError` runs after an optimistic change is rolled back. */
export function useApiMutation<Data, Variables, Context = unknown, Current = unknown>(
  { send, invalidates, optimistic }: MutationHandlers<Variables>,
  { dryRun = false, idempotencyKey = false, ...options }:
    MutationOptions<Data, Variables, Context, Current> & WriteOptions<boolean> & RetryOptions = {},
): MutationResult<Data, Variables, Context, Current> {
  const client = useQueryClient()
  /** The keys by the context of a call of `mutate`. TanStack passes the same object to each retry. */
  const keys = new WeakMap<object, string>()
  const mutationFn = async (variables: Variables, call: object) => {
    const undo = dryRun ? undefined : optimistic?.(variables)
    if (idempotencyKey && !keys.has(call)) keys.set(call, newKey())
    try {
      return (await send(variables, dryRun ? { dryRun } : {}, keys.get(call))) as Data
    }
    catch (error) {
      undo?.()
      throw error
    }
  }
  if (!dryRun) changes.set(mutationFn, invalidates)
  return useMutation<Data, AutoApiError<Current>, Variables, Context>({
    ...(options as object),
    mutationFn,
    async onSuccess(data, variables, ...rest) {
      if (!dryRun) await invalidate(client, invalidates(variables))
      await options.onSuccess?.(data, variables, ...rest)
    },
  })
}

/** Browsers have `randomUUID` only on HTTPS. */
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
