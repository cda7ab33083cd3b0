/** Composables of the activity feed. Any write of the page refetches them. */
import type { MaybeRefOrGetter } from 'vue'
import { useFeed, useFeedPages, type Entries, type EntryPages, type Unpaged } from '../../../app/feed'
import type { InfiniteOptions, QueryOptions } from '../../../app/query'
import type { FeedCursorPage, FeedPage, FeedQuery } from '../../../shared/types/feed'
import type { ActivityEntry } from '../shared/types'

export type { ActivityEntry as AutoApiActivityEntry } from '../shared/types'

/**
 * Reads a page of the activity feed: what happened to the records that the caller can see, newest first. Requires the plugin
 * `activityFeed`.
 * @example
 * const { data } = useAutoApiActivity({ limit: 20 })
 */
export function useAutoApiActivity(
  query?: MaybeRefOrGetter<FeedQuery>, options?: QueryOptions<FeedPage<ActivityEntry>>,
): Entries<ActivityEntry> {
  return useFeed('/activity', query, options)
}

/**
 * Reads the activity feed by cursor.
 * @example
 * const { data, fetchNextPage, hasNextPage } = useAutoApiActivityInfinite({ limit: 20 })
 */
export function useAutoApiActivityInfinite(
  query?: MaybeRefOrGetter<Unpaged<FeedQuery>>, options?: InfiniteOptions<FeedCursorPage<ActivityEntry>>,
): EntryPages<ActivityEntry> {
  return useFeedPages('/activity', query, options)
}
