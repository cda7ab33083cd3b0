/** What one page has of the stream: its live queries and listeners, and what happens to them when a message arrives. */
import { hashKey, type Query, type QueryCacheNotifyEvent, type QueryClient } from '@tanstack/vue-query'
import { shallowRef, type InjectionKey, type ShallowRef } from 'vue'
import { AutoApiError } from '../../../app/error'
import { isAffectedBy, isApiKey, resourcesOf, rootOf, type ApiKey } from '../../../app/keys'
import { resources as known } from '../../../app/nuxt'
import type { Browser } from './browser'
import { isSame, NO_NEEDS, unite, type LiveStatus, type Needs, type StreamMessage } from './messages'
import { createRefetcher } from './refetch'
import { createStream, type StreamSource } from './stream'
import { joinTabs, type Tabs } from './tabs'
import { canRecover, type Timing } from './timing'

/** The state of the stream. */
export interface LiveState {
  /**
   * `polling`: the server has no streams, so live queries are refetched at intervals. `closed`: the server refused the stream, see `error`,
   * or nothing needs it.
   */
  readonly status: Readonly<ShallowRef<LiveStatus>>
  readonly error: Readonly<ShallowRef<AutoApiError | null>>
}

export interface LiveSignal {
  readonly event: 'changed' | 'gone' | 'reset'
  readonly resource: string
  /** `undefined` for `reset`. */
  readonly id: string | undefined
}

export interface LiveSource {
  readonly queryClient: QueryClient
  readonly connect: StreamSource['connect']
  /** Tabs share a stream if they have the same name. */
  readonly name: () => string
  readonly browser: Browser
  readonly timing: Timing
  readonly onPolling: () => void
}

export interface Live {
  readonly state: LiveState
  /** Keeps the response of a key up to date, until the returned function runs. */
  readonly follow: (key: ApiKey) => () => void
  readonly listen: (resources: readonly string[], handler: (signal: LiveSignal) => void) => () => void
  /** Opens the stream. Before, only what needs it is noted. */
  readonly start: () => void
  /** Leaves the other tabs. `start` joins them again. */
  readonly stop: () => void
}

export const LIVE: InjectionKey<Live> = Symbol('auto-api live')

interface Listener { readonly resources: readonly string[], readonly handler: (signal: LiveSignal) => void }

export function createLive({ queryClient, connect, name, browser, timing, onPolling }: LiveSource): Live {
  const cache = queryClient.getQueryCache()
  const state = { status: shallowRef<LiveStatus>('connecting'), error: shallowRef<AutoApiError | null>(null) }
  /** The numbers of components that show a response with `live`. */
  const followed = new Map<string, number>()
  const listeners = new Set<Listener>()
  /** The resources of which no signal is missing. */
  let covered = new Set<string>()
  let needs = NO_NEEDS
  let tabs: Tabs | undefined
  let stops: (() => void)[] = []
  let polling: ReturnType<typeof setInterval> | undefined
  let refetcher: ReturnType<typeof createRefetcher> | undefined
  let isUpdating = false

  /** Tells the other tabs what this one needs, once for all components that a page mounts. */
  function updateNeeds(): void {
    if (isUpdating) return
    isUpdating = true
    queueMicrotask(() => {
      isUpdating = false
      const ofListeners = [...listeners].map(({ resources }) => ({ own: resources, related: [] }))
      const next = unite([...[...followed.keys()].map(needsOf), ...ofListeners])
      if (!tabs && stops.length > 0 && !isSame(next, NO_NEEDS)) join()
      if (!tabs || isSame(next, needs)) return
      needs = next
      tabs.need(needs)
    })
  }

  /** A query needs no stream before its first response. The stream of a refused query would be refused, too. */
  function needsOf(hash: string): Needs {
    const query = cache.get(hash)
    if (!query || (query.state.data === undefined && !canRecover(query.state.error))) return NO_NEEDS
    const key = query.queryKey as ApiKey
    const root = rootOf(key)
    // A view has no signals. Those of the resources that it tracks stand for them.
    const names = [...resourcesOf(key)].filter(name => known[name] && !known[name].tracks)
    return { own: names.filter(name => name === root), related: names.filter(name => name !== root) }
  }

  function join(): void {
    const openStream = (deliver: (message: StreamMessage) => void, last: string | undefined) =>
      createStream({ connect, deliver, last, timing })
    tabs = joinTabs({ name: name(), browser, timing, openStream, receive: message => handlers[message.type](message as never) })
  }

  /** Refetches what depends on the resources, and tells the listeners that signals can be missing. */
  function renew(resources: ReadonlySet<string>): void {
    const causes = (key: ApiKey) => [...resourcesOf(key)].filter(name => resources.has(name))
    refetcher?.mark(key => resourcesOf(key).has('*') || causes(key).length > 0, causes)
    emit([...resources].map(resource => ({ event: 'reset', resource, id: undefined })))
  }

  function emit(signals: readonly LiveSignal[]): void {
    for (const listener of listeners) {
      const heard = signals.filter(({ resource }) => listener.resources.includes(resource))
      // An error of a handler stops nothing else.
      for (const signal of heard) queueMicrotask(() => listeners.has(listener) && listener.handler(signal))
    }
  }

  const handlers: { readonly [K in StreamMessage['type']]: (message: Extract<StreamMessage, { type: K }>) => void } = {
    signal({ event, resource, id }) {
      refetcher?.mark(key => isAffectedBy(key, resource, id), () => [resource])
      emit([{ event, resource, id }])
    },
    open({ resources, resumed }) {
      const fresh = new Set(resources.filter(name => !resumed || !covered.has(name)))
      covered = new Set(resources)
      renew(fresh)
    },
    reset: () => renew(covered),
    poll({ interval }) {
      clearInterval(polling)
      onPolling()
      polling = setInterval(() => renew(new Set([...needs.own, ...needs.related])), interval)
    },
    status({ status, error }) {
      if (status !== 'polling') clearInterval(polling)
      state.status.value = status
      state.error.value = error ? new AutoApiError(error) : null
    },
  }

  /** Follows the cache: queries get their first response, and apps reset all queries when the session changes. */
  function observe(): () => void {
    const loaded = new WeakSet<Query>(cache.getAll().filter(({ state }) => state.data !== undefined))
    let isChanging = false
    const isForgotten = ({ type, query, ...event }: QueryCacheNotifyEvent) => {
      if (!isApiKey(query.queryKey) || !loaded.has(query)) return false
      if (type === 'removed') return query.getObserversCount() > 0
      return type === 'updated' && (event as { action: { type: string } }).action.type === 'setState' && query.state.data === undefined
    }
    return cache.subscribe((event) => {
      const { query } = event
      if (isForgotten(event) && !isChanging) {
        isChanging = true
        queueMicrotask(() => {
          isChanging = false
          covered = new Set()
          tabs?.changeCaller()
        })
      }
      if (event.type !== 'added' && event.type !== 'updated') return
      if (query.state.data === undefined) loaded.delete(query)
      else loaded.add(query)
      if (followed.has(query.queryHash)) updateNeeds()
    })
  }

  return {
    state,
    follow(key) {
      const hash = hashKey(key)
      followed.set(hash, (followed.get(hash) ?? 0) + 1)
      const { isInvalidated, fetchStatus } = cache.get(hash)?.state ?? {}
      // It changed while no component showed it.
      if (isInvalidated && fetchStatus === 'idle') refetcher?.mark((_, candidate) => candidate === hash, () => [])
      updateNeeds()
      return () => {
        const count = followed.get(hash)! - 1
        if (count > 0) followed.set(hash, count)
        else followed.delete(hash)
        updateNeeds()
      }
    },
    listen(resources, handler) {
      const listener = { resources: [...resources], handler }
      listeners.add(listener)
      updateNeeds()
      return () => {
        listeners.delete(listener)
        updateNeeds()
      }
    },
    start() {
      if (stops.length > 0) return
      refetcher = createRefetcher(queryClient, timing, hash => followed.has(hash))
      stops = [observe(), refetcher.stop]
      updateNeeds()
    },
    stop() {
      for (const stop of stops) stop()
      stops = []
      clearInterval(polling)
      tabs?.leave()
      tabs = undefined
      needs = NO_NEEDS
      covered = new Set()
    },
  }
}
