/** What the audit log adds to a resource in the admin. */

export interface AuditFeatures {
  /** Whether the caller can read the history of records. */
  readonly history?: true
  /** Whether the records are the entries of the audit log. */
  readonly auditLog?: true
}

declare module '../../../shared/types/admin' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an augmentation
  interface AdminFeatures extends AuditFeatures {}
}
