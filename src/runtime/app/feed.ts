/** Reads the feeds of plugins, such as the activity feed. Any write of the page refetches them. */
import type { InfiniteData, UseInfiniteQueryReturnType, UseQueryReturnType } from '@tanstack/vue-query'
import { toValue } from 'vue'
import type { FeedCursorPage, FeedPage } from '../shared/types/feed'
import { useClient } from './client'
import type { AutoApiError } from './error'
import { toApiKey, type KeyDetails } from './keys'
import { useApiPages, useApiQuery, type InfiniteOptions, type QueryOptions } from './query'

export type Entries<Entry> = UseQueryReturnType<FeedPage<Entry>, AutoApiError>
export type EntryPages<Entry> = UseInfiniteQueryReturnType<InfiniteData<FeedCursorPage<Entry>, string>, AutoApiError>
/** The parameters of a feed that is read by cursor. */
export type Unpaged<Query> = Omit<Query, 'page' | 'cursor' | 'count'>

/** Entries of every resource can be in a response. */
const READS = ['*']

/** What a query key contains about a feed. */
export const feedDetails = (query: unknown): KeyDetails => ({ query: toValue(query) as KeyDetails['query'], reads: READS })

/** Reads a page of a feed: a list whose entries are about records of any resource. @param path below the prefix of the API */
export function useFeed<Entry>(path: string, query: unknown, options?: QueryOptions<FeedPage<Entry>>): Entries<Entry> {
  const client = useClient()
  return useApiQuery(
    () => toApiKey(path, 'feed', feedDetails(query)),
    ([, path, , { query }], signal) => client.send('GET', client.pathBelow(path), query, undefined, signal),
    options,
  )
}

/** Reads a feed by cursor. */
export function useFeedPages<Entry>(path: string, query: unknown, options?: InfiniteOptions<FeedCursorPage<Entry>>): EntryPages<Entry> {
  const client = useClient()
  return useApiPages<FeedCursorPage<Entry>>(
    () => toApiKey(path, 'feed-pages', feedDetails(query)),
    ([, path, , { query }], cursor, signal) => client.send('GET', client.pathBelow(path), { ...query, cursor }, undefined, signal),
    options,
  )
}
