/**
 * Refetches the responses that a signal makes stale. A response stays in the list of stale ones until a request that started after the
 * signal has succeeded, whoever sent it. So no signal is lost to a request that the database answered before it.
 */
import { focusManager, type Query, type QueryCacheNotifyEvent, type QueryClient } from '@tanstack/vue-query'
import { isApiKey, resourcesOf, type ApiKey } from '../../../app/keys'
import { pendingResources } from '../../../app/mutation'
import { canRecover, delayAfter, isTransient, type Timing } from './timing'

interface Stale {
  /** The resources whose signals made it stale. */
  readonly causes: Set<string>
  /** The earliest time of its refetch. */
  due: number
  /** Whether the request that runs has started after the last signal. */
  isCovered: boolean
  failures: number
}

export interface Refetcher {
  /** Marks responses as stale. @param cause the resources that changed */
  readonly mark: (test: (key: ApiKey, hash: string) => boolean, causes: (key: ApiKey) => Iterable<string>) => void
  readonly stop: () => void
}

/** @param isLive whether a component shows the response with `live` */
export function createRefetcher(client: QueryClient, timing: Timing, isLive: (hash: string) => boolean): Refetcher {
  const cache = client.getQueryCache()
  const stale = new Map<string, Stale>()
  const lastRefetch = new Map<string, number>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let nextRun = Infinity

  function runAt(time: number): void {
    if (time >= nextRun) return
    nextRun = time
    clearTimeout(timer)
    timer = setTimeout(run, Math.max(0, time - Date.now()))
  }
  const runSoon = () => stale.size > 0 && runAt(Date.now())

  function mark(query: Query, causes: Iterable<string>): void {
    const { data, error, fetchStatus } = query.state
    if (data === undefined && fetchStatus === 'idle' && !canRecover(error)) return
    const entry = stale.get(query.queryHash) ?? { causes: new Set(), due: 0, isCovered: false, failures: 0 }
    entry.isCovered = false
    for (const cause of causes) {
      entry.causes.add(cause)
      entry.due = Math.max(entry.due, (lastRefetch.get(cause) ?? -Infinity) + timing.refetch)
    }
    stale.set(query.queryHash, entry)
    runSoon()
  }

  function run(): void {
    nextRun = Infinity
    const now = Date.now()
    const written = pendingResources(client)
    for (const query of findDue(now, written)) {
      for (const cause of stale.get(query.queryHash)?.causes ?? []) lastRefetch.set(cause, now)
      void client.refetchQueries({ predicate: candidate => candidate === query }, { cancelRefetch: false })
    }
  }

  /** Returns the queries to refetch now. What has to wait for something runs again when that happens. */
  function findDue(now: number, written: ReadonlySet<string>): Query[] {
    return [...stale].flatMap(([hash, { due }]) => {
      const query = cache.get(hash)
      if (!query) stale.delete(hash)
      if (query?.state.fetchStatus !== 'idle') return []
      if (!isLive(hash) || !query.isActive()) {
        stale.delete(hash)
        query.invalidate()
        return []
      }
      if (due > now) runAt(due)
      // The refetch would undo an optimistic change.
      const isWritten = [...resourcesOf(query.queryKey as ApiKey)].some(name => written.has(name))
      return due > now || isWritten || !focusManager.isFocused() ? [] : [query]
    })
  }

  function follow({ query, ...event }: QueryCacheNotifyEvent): void {
    const entry = stale.get(query.queryHash)
    if (!entry) return
    if (event.type === 'removed') stale.delete(query.queryHash)
    if (event.type === 'updated') {
      const { action } = event
      // `fetchNextPage` loads one page, and a refetch loads all.
      if (action.type === 'fetch') entry.isCovered = !action.meta?.fetchMore
      if (action.type === 'setState') entry.isCovered = false
      if (action.type === 'success' && !action.manual && entry.isCovered) stale.delete(query.queryHash)
      if (action.type === 'error') {
        if (isTransient({ status: statusOf(action.error) })) entry.due = Date.now() + delayAfter(entry.failures++, timing)
        // A 404 of a request that started before the signal can be out of date: the signal can mean that the record is there.
        else if (entry.isCovered) stale.delete(query.queryHash)
        entry.isCovered = false
      }
    }
    runSoon()
  }

  const stops = [
    cache.subscribe(follow),
    client.getMutationCache().subscribe(() => void runSoon()),
    focusManager.subscribe(() => void runSoon()),
  ]
  return {
    mark(test, causes) {
      for (const query of cache.getAll())
        if (isApiKey(query.queryKey) && test(query.queryKey, query.queryHash)) mark(query, causes(query.queryKey))
    },
    stop() {
      clearTimeout(timer)
      for (const stop of stops) stop()
    },
  }
}

const statusOf = (error: Error | null) => (error as { status?: number } | null)?.status
