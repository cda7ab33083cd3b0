/** What uploads add to a resource in the admin. */

export interface FileFeatures {
  /** The fields that hold files. `maxSize` is a number of bytes. */
  readonly files?: Readonly<Record<string, { readonly accept: readonly string[], readonly maxSize: number, readonly multiple: boolean }>>
}

declare module '../../../shared/types/admin' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an augmentation
  interface AdminFeatures extends FileFeatures {}
}
