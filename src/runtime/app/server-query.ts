/**
 * A query of a component that the server renders. TanStack's own `useQuery` makes each of its 25 values reactive through proxies and
 * watches the options. A component is rendered once on the server, where Vue runs no watchers, so this one needs neither.
 */
import {
  replaceEqualDeep,
  shouldThrowError,
  useQueryClient,
  type QueryClient,
  type QueryObserver,
  type QueryObserverOptions,
} from '@tanstack/vue-query'
import { customRef, isRef, onScopeDispose, shallowRef, type ShallowRef } from 'vue'

type Result = ReturnType<QueryObserver['getCurrentResult']>
type Options = Parameters<QueryObserver['setOptions']>[0]
type ObserverClass = new (client: QueryClient, options: Options) => Pick<
  QueryObserver,
  'options' | 'subscribe' | 'setOptions' | 'refetch' | 'getCurrentResult' | 'getCurrentQuery'
>

/** Returns what `useQuery` returns: a ref for each value of the observer's result, and its functions. */
export function useServerQuery(Observer: ObserverClass, getOptions: () => QueryObserverOptions): Record<string, unknown> {
  const client = useQueryClient()
  const toObserverOptions = (options: QueryObserverOptions, queryKey: readonly unknown[]): Options =>
    client.defaultQueryOptions({ ...options, queryKey })
  const first = getOptions()
  let { enabled, queryKey } = { ...first, queryKey: withoutRefs(first.queryKey) as readonly unknown[] }
  const observer = new Observer(client, toObserverOptions(first, queryKey))
  const result = shallowRef(observer.getCurrentResult())
  // The first subscription of an enabled query sends the request. Its result says so from the start.
  onScopeDispose(observer.subscribe(next => void (result.value = next)))
  result.value = observer.getCurrentResult()

  const refetch: Result['refetch'] = (options) => {
    const next = getOptions()
    const nextKey = replaceEqualDeep(queryKey, withoutRefs(next.queryKey)) as readonly unknown[]
    // Nothing else depends on the state of the page.
    if (nextKey !== queryKey || next.enabled !== enabled) observer.setOptions(toObserverOptions(next, nextKey));
    ({ enabled, queryKey } = { ...next, queryKey: nextKey })
    return observer.refetch(options)
  }
  const suspense = async () => {
    const settled = await refetch({ cancelRefetch: false })
    if (settled.isError && shouldThrowError(observer.options.throwOnError, [settled.error, observer.getCurrentQuery()])) throw settled.error
    return settled
  }
  return { ...toReadonlyRefs(result), refetch, suspense }
}

/** The values as refs, and the functions as they are. */
function toReadonlyRefs<T extends object>(source: ShallowRef<T>): Record<string, unknown> {
  const refs: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(source.value))
    refs[name] = typeof value === 'function' ? value : customRef(() => ({ get: () => source.value[name as keyof T], set: () => {} }))
  return refs
}

/** Replaces refs and functions by their values, as TanStack does in every key. */
export function withoutRefs(value: unknown): unknown {
  if (typeof value === 'function') return withoutRefs((value as () => unknown)())
  if (typeof value !== 'object' || value === null) return value
  if (isRef(value)) return withoutRefs(value.value)
  if (Array.isArray(value)) return value.map(withoutRefs)
  if (Object.prototype.toString.call(value) !== '[object Object]') return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutRefs(inner)]))
}
