/** Provides one query client per request and sends its state from the server to the browser. Does nothing if the app provides a client. */
import { dehydrate, hydrate, QueryClient, VueQueryPlugin, type DehydratedState, type QueryState } from '@tanstack/vue-query'
import { AutoApiError, toProblem, type ApiProblem } from './error'
import { defineNuxtPlugin, useState, type Plugin } from './nuxt'
import { autoApiTag, setTag } from './tags'

const plugin: Plugin = defineNuxtPlugin({
  name: 'auto-api:query',
  setup(nuxtApp) {
    // The key under which vue-query provides its client.
    if ('VUE_QUERY_CLIENT' in nuxtApp.vueApp._context.provides) return
    const client = new QueryClient()
    nuxtApp.vueApp.use(VueQueryPlugin, { queryClient: client })

    const sent = useState<SentQuery[] | undefined>('auto-api', () => undefined)
    if (import.meta.server) nuxtApp.hook('app:rendered', () => void (sent.value = toSentQueries(client)))
    else if (sent.value) restore(client, sent.value)
  },
})

export default plugin

/** A query as the browser receives it: of its state only what differs from `LOADED`. */
interface SentQuery extends Pick<DehydratedState['queries'][number], 'queryKey' | 'queryHash' | 'meta' | 'queryType'> {
  readonly state: Partial<QueryState> & Pick<QueryState, 'data' | 'dataUpdatedAt'>
  /** Only the record itself has a tag, and the browser receives a copy. */
  readonly tag?: string
}

/** The state of a query after its first response. */
const LOADED = {
  dataUpdateCount: 1,
  error: null,
  errorUpdateCount: 0,
  errorUpdatedAt: 0,
  fetchFailureCount: 0,
  fetchFailureReason: null,
  fetchMeta: null,
  isInvalidated: false,
  status: 'success',
  fetchStatus: 'idle',
} as const

/** Includes the errors of the API, so that the browser shows the same page as the server. */
function toSentQueries(client: QueryClient): SentQuery[] {
  const { queries } = dehydrate(client, {
    shouldDehydrateQuery: ({ state }) => state.status === 'success' || state.error instanceof AutoApiError,
  })
  return queries.map(({ dehydratedAt: _sentAt, state, ...query }) => {
    const tag = autoApiTag(state.data)
    const plain = withErrors(state, error => (error instanceof AutoApiError ? (toProblem(error) as never) : null))
    const differing = Object.entries(plain).filter(([name, value]) => LOADED[name as keyof typeof LOADED] !== value)
    return { ...query, ...tag !== undefined && { tag }, state: Object.fromEntries(differing) as unknown as SentQuery['state'] }
  })
}

function restore(client: QueryClient, sent: readonly SentQuery[]): void {
  hydrate(client, {
    queries: sent.map(({ state, ...query }) => ({
      ...query,
      dehydratedAt: state.dataUpdatedAt,
      state: withErrors({ ...LOADED, ...state }, error => new AutoApiError(error as unknown as ApiProblem)),
    })),
  })
  for (const { queryHash, tag } of sent) setTag(client.getQueryCache().get(queryHash)?.state.data, tag)
}

function withErrors(state: QueryState, convert: (error: Error) => Error | null): QueryState {
  const { error, fetchFailureReason } = state
  return { ...state, error: error && convert(error), fetchFailureReason: fetchFailureReason && convert(fetchFailureReason) }
}
