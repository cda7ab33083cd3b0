/** What exports and imports add to a resource in the admin. */

export interface TransferFeatures {
  /** The formats of an export, the default first. */
  readonly exportFormats?: readonly ('csv' | 'json' | 'ndjson')[]
  readonly import?: true
}

declare module '../../../shared/types/admin' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an augmentation
  interface AdminFeatures extends TransferFeatures {}
}
