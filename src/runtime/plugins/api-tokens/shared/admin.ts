/** What API tokens add to a resource in the admin. */

export interface TokenFeatures {
  /** Whether the records are API tokens. */
  readonly tokens?: true
}

declare module '../../../shared/types/admin' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an augmentation
  interface AdminFeatures extends TokenFeatures {}
}
