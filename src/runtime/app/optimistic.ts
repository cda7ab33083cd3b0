/** Optimistic updates: changes to cached records before the server confirms them. */
import type { Query, QueryClient } from '@tanstack/vue-query'
import { stringify } from '../shared/query'
import type { RecordId, RecordOf, ResourceWith, UpdateBody } from '../shared/types/resources'
import { changeRecord, type CachedRecord } from './cache'
import { isApiKey, resourcesOf } from './keys'
import type { OnlyAtRunTime, Row } from './any-resource'

/**
 * Changes a record in every cached response: lists, infinite lists, single records and includes. Only fields that a response contains
 * change. It is a plain function, not a composable: call it in an event handler, before the request is sent.
 * @returns `rollback`, which restores the previous values. A field that has changed again keeps its current value.
 * @example
 * const { rollback } = useAutoApiOptimisticUpdate(queryClient, 'posts', 1, { title: 'New' })
 * save.mutate({ id: 1, title: 'New' }, { onError: rollback })
 */
export function useAutoApiOptimisticUpdate<R extends ResourceWith<'update'>>(
  queryClient: QueryClient,
  resource: R,
  id: RecordId,
  updates: Partial<RecordOf<R>> | UpdateBody<R>,
): { rollback: () => void }
/** Changes a record of a resource whose name is known only at run time. */
export function useAutoApiOptimisticUpdate<N extends string, L extends OnlyAtRunTime<N>>(
  queryClient: QueryClient, resource: N, id: RecordId, updates: Row, ...literal: L
): { rollback: () => void }
export function useAutoApiOptimisticUpdate(
  queryClient: QueryClient, resource: string, id: RecordId, updates: object,
): { rollback: () => void } {
  // A pending response would overwrite the change with the previous values.
  const isAffected = ({ queryKey }: Query) => isApiKey(queryKey) && resourcesOf(queryKey).has(resource)
  void queryClient.cancelQueries({ predicate: isAffected })

  // Dates are text in a response.
  const newValues = JSON.parse(stringify(updates)) as CachedRecord
  /** The previous values of the record, by response. */
  const previous = new Map<string, CachedRecord>()
  changeRecord(queryClient, resource, id, (record, key) => {
    const changedNames = Object.keys(newValues).filter(name => name in record)
    previous.set(JSON.stringify(key), Object.fromEntries(changedNames.map(name => [name, record[name]])))
    return changedNames.length === 0 ? record : { ...record, ...Object.fromEntries(changedNames.map(name => [name, newValues[name]])) }
  })

  return {
    rollback() {
      changeRecord(queryClient, resource, id, (record, key) => {
        const own = Object.entries(previous.get(JSON.stringify(key)) ?? {}).filter(([name]) => record[name] === newValues[name])
        return own.length === 0 ? record : { ...record, ...Object.fromEntries(own) }
      })
      // No write makes them load whose first request was cancelled.
      const isUnloaded = ({ state }: Query) => state.status === 'pending' && state.fetchStatus === 'idle'
      void queryClient.refetchQueries({ type: 'active', predicate: query => isAffected(query) && isUnloaded(query) })
    },
  }
}
