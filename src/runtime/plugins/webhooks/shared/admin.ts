/** What webhooks add to resources in the admin. */

export interface WebhookFeatures {
  /** Whether the records are webhooks. */
  readonly webhooks?: true
  /** Whether the records are deliveries of webhooks. */
  readonly deliveries?: true
}

declare module '../../../shared/types/admin' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an augmentation
  interface AdminFeatures extends WebhookFeatures {}
}
