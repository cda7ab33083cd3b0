/** Writes several records of any resources in one commit. */
import { invalidationOf, type Action } from '../../../app/actions'
import { useClient } from '../../../app/client'
import { useApiMutation, type MutationOptions, type MutationResult, type RetryOptions, type WriteOptions } from '../../../app/mutation'
import type { AutoApiBatchStep } from './types'

export interface BatchResponse {
  /** What each step would answer as a request of its own, in the order of the steps. */
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly meta: { readonly steps: number }
}

export type BatchOptions<Context>
  = MutationOptions<BatchResponse, readonly AutoApiBatchStep[], Context> & WriteOptions<boolean> & RetryOptions

export type BatchResult<Context = unknown> = MutationResult<BatchResponse, readonly AutoApiBatchStep[], Context>

/** A step as the client sends it. */
interface AnyStep {
  readonly resource: string
  readonly operation: Action
  readonly id?: unknown
  readonly data?: object
}

/**
 * Writes several records of any resources in one commit: `mutate([step, …])`. All of them are written, or none. `{ $ref: 'order.id' }`
 * stands for a field of the record of the earlier step that is named `as: 'order'`. Requires the plugin `batch`. Stale responses of every
 * written resource are refetched before `onSuccess` runs. `mutateAsync` rejects with an `AutoApiError`, whose `errors` name the steps that
 * failed.
 * @example
 * const { mutate } = useAutoApiBatch()
 * mutate([
 *   { resource: 'articles', operation: 'create', data: { title: 'New' }, as: 'article' },
 *   { resource: 'comments', operation: 'create', data: { articleId: { $ref: 'article.id' }, text: 'First' } },
 * ])
 */
export function useAutoApiBatch<Context = unknown>(options: BatchOptions<Context> = {}): BatchResult<Context> {
  const client = useClient()
  return useApiMutation<BatchResponse, readonly AutoApiBatchStep[], Context>({
    send: (steps, query, idempotencyKey) =>
      client.send('POST', client.pathBelow('/batch'), query, { steps }, undefined, { idempotencyKey }),
    invalidates: steps => ({
      resources: new Set((steps as readonly AnyStep[]).flatMap(({ resource, operation, id, data }) =>
        [...invalidationOf(operation, resource, { ...data, id }).resources])),
    }),
  }, options)
}
