/** The pages of a feed: a list whose entries are about records of any resource. */

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
