/** A change that is shown before the server has confirmed it, and can be taken back. */
import type { QueryClient } from '@tanstack/vue-query'
import { stringify } from '../shared/query'
import type { RecordId, RecordOf, ResourceWith, UpdateBody } from '../shared/types/resources'
import { changeRecord, type CachedRecord } from './cache'
import { isApiKey, resourcesOf } from './keys'

/**
 * Changes a record wherever it is cached: in lists, infinite lists, records of their own and what includes it. Only
 * fields that were asked for are changed. A plain function: call it in an event handler, before the request is sent.
 * @example
 * const { rollback } = useAutoApiOptimisticUpdate(queryClient, 'posts', 1, { title: 'New' })
 * save.mutate({ id: 1, title: 'New' }, { onError: rollback })
 */
export function useAutoApiOptimisticUpdate<R extends ResourceWith<'update'>>(
  queryClient: QueryClient,
  resource: R,
  id: RecordId,
  updates: Partial<RecordOf<R>> | UpdateBody<R>,
): { rollback: () => void } {
  // An answer that is on its way would bring back what was there before.
  void queryClient.cancelQueries({ predicate: ({ queryKey }) => isApiKey(queryKey) && resourcesOf(queryKey).has(resource) })

  // A date is text in an answer.
  const shown = JSON.parse(stringify(updates)) as CachedRecord
  /** Per answer, what the record was like. */
  const before = new Map<string, CachedRecord>()
  changeRecord(queryClient, resource, id, (record, key) => {
    const known = Object.keys(shown).filter(name => name in record)
    before.set(JSON.stringify(key), Object.fromEntries(known.map(name => [name, record[name]])))
    return known.length === 0 ? record : { ...record, ...Object.fromEntries(known.map(name => [name, shown[name]])) }
  })

  return {
    // What has been changed again since then stays as it is now.
    rollback: () =>
      changeRecord(queryClient, resource, id, (record, key) => {
        const own = Object.entries(before.get(JSON.stringify(key)) ?? {}).filter(([name]) => record[name] === shown[name])
        return own.length === 0 ? record : { ...record, ...Object.fromEntries(own) }
      }),
  }
}
