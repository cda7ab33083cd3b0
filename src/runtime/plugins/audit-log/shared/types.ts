/** The entries of the audit log, as the API returns them. */
import type { FeedQuery } from '../../../shared/types/feed'

/** A recorded change of a record. It contains only fields that the reader can read. */
export interface AuditEntry {
  /** A UUID of version 7. */
  readonly id: string
  /** ISO 8601. */
  readonly at: string
  /** `create`, `update`, `delete`, `restore`, `purge`, `link`, `unlink`, or a verb of the app. */
  readonly kind: string
  readonly resource: string
  readonly recordId: string | null
  /** Of a cascaded change: the record that the request named. */
  readonly rootId: string | null
  readonly userId: string | null
  readonly tokenId: string | null
  readonly via: string | null
  readonly tenantId: string | null
  readonly requestId: string | null
  readonly ip: string | null
  /** The changed columns. `null` for events of the app. */
  readonly columns: readonly string[] | null
  /** The changed columns before the change. */
  readonly before: Readonly<Record<string, unknown>> | null
  /** The changed columns after the change, or the data of an event of the app. */
  readonly after: Readonly<Record<string, unknown>> | null
  readonly reason: string | null
}

/** Selects entries of one record. */
export interface HistoryQuery extends FeedQuery {
  readonly userId?: string | number
  readonly kind?: string
  /** Entries at or after this time, as ISO 8601. */
  readonly from?: string
  /** Entries before this time, as ISO 8601. */
  readonly to?: string
}

/** Selects entries of the audit log. */
export interface AuditLogQuery extends HistoryQuery {
  readonly resource?: string
  readonly recordId?: string | number
}
