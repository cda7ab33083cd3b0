/** The deliveries of webhooks, as the view shows them. */
import type { RecordRef } from '../../../admin/model/record-names'
import type { RecordId } from '../../../shared/types/resources'

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'dead'] as const

export type DeliveryState = typeof DELIVERY_STATES[number]

export interface Delivery {
  readonly id: RecordId
  /** The name of the webhook. */
  readonly webhook: string
  readonly event: string
  readonly resource: string | null
  readonly recordId: string | null
  readonly status: DeliveryState
  readonly attempts: number
  readonly responseStatus: number | null
  readonly responseBody: string | null
  readonly error: string | null
  readonly createdAt: string
  /** What the names of its buttons end with. No two deliveries have the same. */
  readonly label: string
}

/** The records whose names the list shows. A test has none. */
export const refsOf = (deliveries: readonly Delivery[]): RecordRef[] =>
  deliveries.flatMap(({ resource, recordId: id }) => resource === null || id === null ? [] : [{ resource, id }])
