/** What webhooks add to resources in the admin. */

export interface WebhookFeatures {
  /** What the records are. */
  readonly webhooks?: 'webhooks' | 'deliveries'
}

declare module '../../../shared/types/admin' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an augmentation
  interface AdminFeatures extends WebhookFeatures {}
}
