/** The types of webhooks in responses. */
import type { ColumnsOf, ResourceName } from '../../../shared/types/resources'

/** The columns by which a table of webhooks is recognized. */
interface WebhookColumns {
  readonly url: unknown
  readonly previousSecret: unknown
}

/** The columns by which a table of deliveries is recognized. */
interface DeliveryColumns {
  readonly webhookId: unknown
  readonly responseStatus: unknown
}

type Made<Columns> = { [R in ResourceName]: ColumnsOf<R> extends Columns ? R : never }[ResourceName]

/** The resources whose tables contain webhooks. */
export type WebhookResource = Made<WebhookColumns>
/** The resources whose tables contain deliveries of webhooks. */
export type DeliveryResource = Made<DeliveryColumns>

export interface IssuedSecret {
  /** The secret. Only the response that issues it has it. */
  secret?: string
  /** The response was stored and sent again: the first response had the secret. */
  secretAlreadyIssued?: true
}

declare module '../../../shared/types/resources' {
  interface CreatedWith<Columns> {
    webhooks: Columns extends WebhookColumns ? IssuedSecret : unknown
  }
}
