/** Composables for webhooks: a test, a new secret, and a delivery that is sent again. */
import type { CreatedRecord, RecordId, ResourceWith } from '../../../shared/types/resources'
import type { DeliveryResource, WebhookResource } from '../shared/types'
import { useClient } from '../../../app/client'
import { useApiMutation, type MutationOptions, type MutationResult } from '../../../app/mutation'
import type { OnlyAtRunTime, Row } from '../../../app/any-resource'

type Send = (resource: string, options?: MutationOptions<Row, RecordId>) => MutationResult<Row, RecordId>

/** A composable that sends `POST /:resource/:id/<action>`. It refetches the queries of this resource. */
const action = (name: string): Send => (resource, options) => {
  const client = useClient()
  return useApiMutation({
    send: (id: RecordId) => client.call({ route: 'get', resource, id, below: ['POST', name] }),
    invalidates: () => ({ resources: new Set<string>([resource]) }),
  }, options)
}

/**
 * Gives a webhook a new secret: `mutate(id)`. Resolves to the record with `secret`, which no other response contains. Deliveries have the
 * signatures of both secrets for the grace period of the plugin `webhooks`. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiWebhookRotate('webhooks', { onSuccess: ({ secret }) => show(secret) })
 */
export function useAutoApiWebhookRotate<R extends WebhookResource & ResourceWith<'update'>, Context = unknown>(
  resource: R, options?: MutationOptions<CreatedRecord<R>, RecordId, Context>,
): MutationResult<CreatedRecord<R>, RecordId, Context>
/** Gives a webhook of a resource whose name is known only at run time a new secret. */
export function useAutoApiWebhookRotate<N extends string, L extends OnlyAtRunTime<N>, Context = unknown>(
  resource: N, options?: MutationOptions<Row, RecordId, Context>, ...literal: L
): MutationResult<Row, RecordId, Context>
export function useAutoApiWebhookRotate(resource: string, options?: MutationOptions<Row, RecordId>): MutationResult<Row, RecordId> {
  return action('rotate')(resource, options)
}

/**
 * Sends a test event to the receiver of a webhook: `mutate(id)`. Resolves to the delivery, with `status` and `responseStatus`.
 * @example
 * const { mutate, data } = useAutoApiWebhookTest('webhooks')
 */
export function useAutoApiWebhookTest<R extends WebhookResource & ResourceWith<'update'>, Context = unknown>(
  resource: R, options?: MutationOptions<Row, RecordId, Context>,
): MutationResult<Row, RecordId, Context>
/** Tests a webhook of a resource whose name is known only at run time. */
export function useAutoApiWebhookTest<N extends string, L extends OnlyAtRunTime<N>, Context = unknown>(
  resource: N, options?: MutationOptions<Row, RecordId, Context>, ...literal: L
): MutationResult<Row, RecordId, Context>
export function useAutoApiWebhookTest(resource: string, options?: MutationOptions<Row, RecordId>): MutationResult<Row, RecordId> {
  return action('test')(resource, options)
}

/**
 * Sends a delivery again: `mutate(id)`. Resolves to the delivery, which waits for its next attempt.
 * @example
 * const { mutate } = useAutoApiWebhookRetry('webhookDeliveries')
 */
export function useAutoApiWebhookRetry<R extends DeliveryResource & ResourceWith<'update'>, Context = unknown>(
  resource: R, options?: MutationOptions<Row, RecordId, Context>,
): MutationResult<Row, RecordId, Context>
/** Sends a delivery of a resource whose name is known only at run time again. */
export function useAutoApiWebhookRetry<N extends string, L extends OnlyAtRunTime<N>, Context = unknown>(
  resource: N, options?: MutationOptions<Row, RecordId, Context>, ...literal: L
): MutationResult<Row, RecordId, Context>
export function useAutoApiWebhookRetry(resource: string, options?: MutationOptions<Row, RecordId>): MutationResult<Row, RecordId> {
  return action('retry')(resource, options)
}
