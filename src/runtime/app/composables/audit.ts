/** Composables of the audit log and of the activity feed. Any write of the page refetches them. */
import type { InfiniteData, UseInfiniteQueryReturnType, UseQueryReturnType } from '@tanstack/vue-query'
import { toValue, type MaybeRefOrGetter } from 'vue'
import type {
  ActivityEntry, AuditEntry, AuditLogQuery, FeedCursorPage, FeedPage, FeedQuery, HistoryQuery,
} from '../../shared/types/audit'
import type { RecordId, RecordOf, ResourceName, ResourceWith } from '../../shared/types/resources'
import { useClient, type Client } from '../client'
import type { AutoApiError } from '../error'
import { isMissing, toApiKey, toIdentity, type ApiKey, type KeyDetails } from '../keys'
import { useApiMutation, type MutationOptions, type MutationResult } from '../mutation'
import { useApiPages, useApiQuery, type InfiniteOptions, type QueryOptions } from '../query'

type Page<Entry> = UseQueryReturnType<FeedPage<Entry>, AutoApiError>
type Pages<Entry> = UseInfiniteQueryReturnType<InfiniteData<FeedCursorPage<Entry>, string>, AutoApiError>
type Unpaged<Query> = Omit<Query, 'page' | 'cursor' | 'count'>

/** Entries of every resource can be in a response. */
const READS = ['*']

const detail = (query: unknown): KeyDetails => ({ query: toValue(query) as KeyDetails['query'], reads: READS })

function useFeed<Entry>(path: string, query: unknown, options?: QueryOptions<FeedPage<Entry>>): Page<Entry> {
  const client = useClient()
  return useApiQuery(
    () => toApiKey(path, 'feed', detail(query)),
    ([, path, , { query }], signal) => client.send('GET', client.pathBelow(path), query, undefined, signal),
    options,
  )
}

function useFeedPages<Entry>(path: string, query: unknown, options?: InfiniteOptions<FeedCursorPage<Entry>>): Pages<Entry> {
  const client = useClient()
  return useApiPages<FeedCursorPage<Entry>>(
    () => toApiKey(path, 'feed-pages', detail(query)),
    ([, path, , { query }], cursor, signal) => client.send('GET', client.pathBelow(path), { ...query, cursor }, undefined, signal),
    options,
  )
}

/**
 * Reads a page of the audit log, newest entries first: `{ data, meta: { page, limit, total } }`. Requires the plugin `auditLog`.
 * @example
 * const { data } = useAutoApiAuditLog(() => ({ resource: 'posts', page: page.value }))
 */
export function useAutoApiAuditLog(
  query?: MaybeRefOrGetter<AuditLogQuery>, options?: QueryOptions<FeedPage<AuditEntry>>,
): Page<AuditEntry> {
  return useFeed('/audit-log', query, options)
}

/**
 * Reads the audit log by cursor. `fetchNextPage()` loads the next page.
 * @example
 * const { data, fetchNextPage, hasNextPage } = useAutoApiAuditLogInfinite({ userId: 7, limit: 50 })
 */
export function useAutoApiAuditLogInfinite(
  query?: MaybeRefOrGetter<Unpaged<AuditLogQuery>>, options?: InfiniteOptions<FeedCursorPage<AuditEntry>>,
): Pages<AuditEntry> {
  return useFeedPages('/audit-log', query, options)
}

/**
 * Reads a page of the changes of one record, newest first. Sends no request while the id is missing.
 * @example
 * const { data } = useAutoApiHistory('posts', () => route.params.id)
 */
export function useAutoApiHistory<R extends ResourceWith<'read'>>(
  resource: R,
  id: MaybeRefOrGetter<RecordId | null | undefined>,
  query?: MaybeRefOrGetter<HistoryQuery>,
  options?: QueryOptions<FeedPage<AuditEntry>>,
): Page<AuditEntry> {
  const client = useClient()
  return useApiQuery(historyKey(resource, id, 'feed', query), (key, signal) => readHistory(client, key, {}, signal), options)
}

/**
 * Reads the changes of one record by cursor.
 * @example
 * const { data, fetchNextPage } = useAutoApiHistoryInfinite('posts', postId, { limit: 20 })
 */
export function useAutoApiHistoryInfinite<R extends ResourceWith<'read'>>(
  resource: R,
  id: MaybeRefOrGetter<RecordId | null | undefined>,
  query?: MaybeRefOrGetter<Unpaged<HistoryQuery>>,
  options?: InfiniteOptions<FeedCursorPage<AuditEntry>>,
): Pages<AuditEntry> {
  const client = useClient()
  return useApiPages<FeedCursorPage<AuditEntry>>(
    historyKey(resource, id, 'feed-pages', query), (key, cursor, signal) => readHistory(client, key, { cursor }, signal), options,
  )
}

const historyKey = (resource: string, id: MaybeRefOrGetter<RecordId | null | undefined>, kind: 'feed' | 'feed-pages', query: unknown) =>
  (): ApiKey | undefined => {
    const recordId = toValue(id)
    return isMissing(recordId) ? undefined : toApiKey(resource, kind, { id: toIdentity(resource, recordId), ...detail(query) })
  }

async function readHistory(client: Client, [, resource, , { id, query }]: ApiKey, page: object, signal: AbortSignal): Promise<unknown> {
  return client.send('GET', `${client.pathOf({ route: 'get', resource, id: id! })}/history`, { ...query, ...page }, undefined, signal)
}

/**
 * Reverts the record of an entry to the state in which the entry left it: `mutate(entry)`. Resolves to the record.
 * @example
 * const { mutate: revert, error } = useAutoApiRevert('posts')
 * revert(entry)
 */
export function useAutoApiRevert<R extends ResourceName, Context = unknown>(
  resource: R,
  options?: MutationOptions<RecordOf<R>, Pick<AuditEntry, 'id'>, Context>,
): MutationResult<RecordOf<R>, Pick<AuditEntry, 'id'>, Context> {
  const client = useClient()
  return useApiMutation(
    {
      send: async ({ id }) => client.send('POST', `${client.pathOf({ route: 'get', resource: 'audit-log', id })}/revert`, {}, {}),
      invalidates: () => ({ resources: new Set<string>([resource]) }),
    },
    options,
  )
}

/**
 * Reads a page of the activity feed: what happened to the records that the caller can see, newest first. Requires the plugin
 * `activityFeed`.
 * @example
 * const { data } = useAutoApiActivity({ limit: 20 })
 */
export function useAutoApiActivity(
  query?: MaybeRefOrGetter<FeedQuery>, options?: QueryOptions<FeedPage<ActivityEntry>>,
): Page<ActivityEntry> {
  return useFeed('/activity', query, options)
}

/**
 * Reads the activity feed by cursor.
 * @example
 * const { data, fetchNextPage, hasNextPage } = useAutoApiActivityInfinite({ limit: 20 })
 */
export function useAutoApiActivityInfinite(
  query?: MaybeRefOrGetter<Unpaged<FeedQuery>>, options?: InfiniteOptions<FeedCursorPage<ActivityEntry>>,
): Pages<ActivityEntry> {
  return useFeedPages('/activity', query, options)
}
