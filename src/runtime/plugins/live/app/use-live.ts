/** `useAutoApiLive`: runs a function when records of a resource change. */
import { inject, shallowRef, toValue, watch, type MaybeRefOrGetter } from 'vue'
import type { OnlyAtRunTime } from '../../../app/any-resource'
import { AutoApiError } from '../../../app/error'
import type { ResourceWith } from '../../../shared/types/resources'
import { LIVE, type LiveSignal, type LiveState } from './live'
import type { LiveStatus } from './messages'

/** What happened to a record, without its values. */
export type AutoApiLiveSignal<R extends string = string> = { [N in R]:
  /** It was created, updated or restored, or a link of it changed; `gone`: it was deleted, or the caller can no longer read it. */
  | { readonly event: 'changed' | 'gone', readonly resource: N, readonly id: string }
  /** Signals can be missing. It is also the first signal, because records can have changed between the load of the page and the stream. */
  | { readonly event: 'reset', readonly resource: N, readonly id: undefined }
}[R]

/**
 * Runs a handler when a record of the resources changes that the caller can read, whoever changes it, until the component unmounts. Live
 * lists and records need no handler: they have the option `live`. Requires the plugin `live`.
 * @example
 * const { status } = useAutoApiLive('orders', ({ event, id }) => event === 'changed' && toast.add({ title: `Order ${id} changed` }))
 */
export function useAutoApiLive<R extends ResourceWith<'read'>>(
  resources: MaybeRefOrGetter<R | readonly R[]>, handler: (signal: AutoApiLiveSignal<R>) => void,
): LiveState
/** Follows resources whose names are known only at run time. */
export function useAutoApiLive<N extends string, L extends OnlyAtRunTime<N>>(
  resources: MaybeRefOrGetter<N | readonly N[]>, handler: (signal: AutoApiLiveSignal) => void, ...literal: L
): LiveState
export function useAutoApiLive(resources: MaybeRefOrGetter<string | readonly string[]>, handler: (signal: never) => void): LiveState {
  const live = inject(LIVE, undefined)
  if (!live) return import.meta.server ? stateOf('connecting', null) : stateOf('closed', missing())
  const names = () => [toValue(resources)].flat() as string[]
  // A getter that returns an equal list changes nothing.
  watch(() => names().join(), (_, __, onCleanup) => onCleanup(live.listen(names(), handler as (signal: LiveSignal) => void)), {
    immediate: true,
  })
  return live.state
}

const stateOf = (status: LiveStatus, error: AutoApiError | null): LiveState => ({ status: shallowRef(status), error: shallowRef(error) })

const missing = () => new AutoApiError({
  status: 404, code: 'NOT_FOUND', message: '`useAutoApiLive` requires the plugin `live` in `autoApi.plugins` of nuxt.config.',
  issues: [], fields: [], errors: [],
})
