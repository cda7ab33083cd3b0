/** Composables of the audit log. Any write of the page refetches them. */
import { toValue, type MaybeRefOrGetter } from 'vue'
import { useClient, type Client } from '../../../app/client'
import { feedDetails, useFeed, useFeedPages, type Entries, type EntryPages, type Unpaged } from '../../../app/feed'
import { isMissing, toApiKey, toIdentity, type ApiKey } from '../../../app/keys'
import { useApiMutation, type MutationOptions, type MutationResult } from '../../../app/mutation'
import { useApiPages, useApiQuery, type InfiniteOptions, type QueryOptions } from '../../../app/query'
import type { OnlyAtRunTime, Row } from '../../../app/any-resource'
import type { FeedCursorPage, FeedPage } from '../../../shared/types/feed'
import type { RecordId, RecordOf, ResourceName, ResourceWith } from '../../../shared/types/resources'
import type { AuditEntry, AuditLogQuery, HistoryQuery } from '../shared/types'

export type { AuditEntry as AutoApiAuditEntry } from '../shared/types'

type Id = MaybeRefOrGetter<RecordId | null | undefined>

/**
 * Reads a page of the audit log, newest entries first: `{ data, meta: { page, limit, total } }`. Requires the plugin `auditLog`.
 * @example
 * const { data } = useAutoApiAuditLog(() => ({ resource: 'posts', page: page.value }))
 */
export function useAutoApiAuditLog(
  query?: MaybeRefOrGetter<AuditLogQuery>, options?: QueryOptions<FeedPage<AuditEntry>>,
): Entries<AuditEntry> {
  return useFeed('/audit-log', query, options)
}

/**
 * Reads the audit log by cursor. `fetchNextPage()` loads the next page.
 * @example
 * const { data, fetchNextPage, hasNextPage } = useAutoApiAuditLogInfinite({ userId: 7, limit: 50 })
 */
export function useAutoApiAuditLogInfinite(
  query?: MaybeRefOrGetter<Unpaged<AuditLogQuery>>, options?: InfiniteOptions<FeedCursorPage<AuditEntry>>,
): EntryPages<AuditEntry> {
  return useFeedPages('/audit-log', query, options)
}

/**
 * Reads a page of the changes of one record, newest first. Sends no request while the id is missing.
 * @example
 * const { data } = useAutoApiHistory('posts', () => route.params.id)
 */
export function useAutoApiHistory<R extends ResourceWith<'read'>>(
  resource: R,
  id: Id,
  query?: MaybeRefOrGetter<HistoryQuery>,
  options?: QueryOptions<FeedPage<AuditEntry>>,
): Entries<AuditEntry>
/** Reads a page of the changes of a record of a resource whose name is known only at run time. */
export function useAutoApiHistory<N extends string, L extends OnlyAtRunTime<N>>(
  resource: N, id: Id, query?: MaybeRefOrGetter<HistoryQuery>, options?: QueryOptions<FeedPage<AuditEntry>>, ...literal: L
): Entries<AuditEntry>
export function useAutoApiHistory(
  resource: string, id: Id, query?: unknown, options?: QueryOptions<FeedPage<AuditEntry>>,
): Entries<AuditEntry> {
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
  id: Id,
  query?: MaybeRefOrGetter<Unpaged<HistoryQuery>>,
  options?: InfiniteOptions<FeedCursorPage<AuditEntry>>,
): EntryPages<AuditEntry>
/** Reads the changes of a record of a resource whose name is known only at run time. */
export function useAutoApiHistoryInfinite<N extends string, L extends OnlyAtRunTime<N>>(
  resource: N,
  id: Id,
  query?: MaybeRefOrGetter<Unpaged<HistoryQuery>>,
  options?: InfiniteOptions<FeedCursorPage<AuditEntry>>,
  ...literal: L
): EntryPages<AuditEntry>
export function useAutoApiHistoryInfinite(
  resource: string, id: Id, query?: unknown, options?: InfiniteOptions<FeedCursorPage<AuditEntry>>,
): EntryPages<AuditEntry> {
  const client = useClient()
  return useApiPages<FeedCursorPage<AuditEntry>>(
    historyKey(resource, id, 'feed-pages', query), (key, cursor, signal) => readHistory(client, key, { cursor }, signal), options,
  )
}

const historyKey = (resource: string, id: Id, kind: 'feed' | 'feed-pages', query: unknown) =>
  (): ApiKey | undefined => {
    const recordId = toValue(id)
    return isMissing(recordId) ? undefined : toApiKey(resource, kind, { id: toIdentity(resource, recordId), ...feedDetails(query) })
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
): MutationResult<RecordOf<R>, Pick<AuditEntry, 'id'>, Context>
/** Reverts a record of a resource whose name is known only at run time. */
export function useAutoApiRevert<N extends string, L extends OnlyAtRunTime<N>, Context = unknown>(
  resource: N, options?: MutationOptions<Row, Pick<AuditEntry, 'id'>, Context>, ...literal: L
): MutationResult<Row, Pick<AuditEntry, 'id'>, Context>
export function useAutoApiRevert(
  resource: string, options?: MutationOptions<Row, Pick<AuditEntry, 'id'>>,
): MutationResult<Row, Pick<AuditEntry, 'id'>> {
  const client = useClient()
  return useApiMutation(
    {
      send: async ({ id }) => client.send('POST', `${client.pathOf({ route: 'get', resource: 'audit-log', id })}/revert`, {}, {}),
      invalidates: () => ({ resources: new Set<string>([resource]) }),
    },
    options,
  )
}
