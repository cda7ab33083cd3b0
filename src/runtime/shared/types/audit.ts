/** The entries of the audit log and of the activity feed, as the API returns them. */

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

/** An entry of the activity feed. */
export interface ActivityEntry {
  readonly id: string
  /** The time of the newest change, as ISO 8601. */
  readonly at: string
  /** `null` if the reader cannot see the actor. `label` is `null` if the reader cannot read the name. */
  readonly actor: { readonly id: string, readonly label: string | null } | null
  /** `created`, `updated`, `deleted`, `restored`, or a verb of the app. */
  readonly verb: string
  readonly resource: string
  readonly recordId: string
  /** The title of the record. `null` if the reader cannot read it. */
  readonly label: string | null
  /** The number of updates that the entry stands for. Other verbs have 1. */
  readonly count: number
}

/** A page of a feed. With `cursor` in the query, `meta` has `nextCursor` instead of `page` and `total`. */
export interface FeedPage<Entry> {
  readonly data: readonly Entry[]
  readonly meta: {
    readonly limit: number
    readonly page?: number
    readonly total?: number
    /** More entries exist than `total`. */
    readonly totalIsMore?: true
    readonly hasMore?: boolean
    readonly nextCursor?: string | null
  }
}

/** A page of a feed that is read by cursor. */
export interface FeedCursorPage<Entry> {
  readonly data: readonly Entry[]
  readonly meta: { readonly limit: number, readonly hasMore: boolean, readonly nextCursor: string | null }
}

/** Selects a page of a feed. */
export interface FeedQuery {
  readonly limit?: number
  readonly page?: number
  readonly cursor?: string
  readonly count?: 'exact' | 'none'
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
