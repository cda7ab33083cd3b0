/** Sends the queries of a page from the server to the browser. Only the plugin imports this file. */
import { dehydrate, hydrate, type DehydratedState, type QueryClient, type QueryState } from '@tanstack/vue-query'
import { AutoApiError, toProblem, type ApiProblem } from './error'
import { isResponse } from './responses'
import { autoApiTag, setTag } from './tags'

/** A query as the browser receives it: of its state only what differs from `LOADED`. */
export interface SentQuery extends Pick<DehydratedState['queries'][number], 'queryKey' | 'queryHash' | 'meta' | 'queryType'> {
  readonly state: Partial<QueryState> & Pick<QueryState, 'dataUpdatedAt'>
  /** The data as JSON. Nuxt writes a text into the page much faster than the objects of a response. */
  readonly json?: string
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

/** Returns the queries of a rendered page, with the errors of the API, so that the browser shows the same page as the server. */
export function toSentQueries(client: QueryClient): SentQuery[] {
  const { queries } = dehydrate(client, {
    shouldDehydrateQuery: ({ state }) => state.status === 'success' || state.error instanceof AutoApiError,
  })
  return queries.map(({ dehydratedAt: _sentAt, state: { data, ...state }, ...query }) => {
    const tag = autoApiTag(data)
    const plain = withErrors(state, error => (error instanceof AutoApiError ? (toProblem(error) as never) : null))
    const differing = Object.entries(plain).filter(([name, value]) => LOADED[name as keyof typeof LOADED] !== value)
    const sent = Object.fromEntries(differing) as unknown as SentQuery['state']
    return {
      ...query,
      ...tag !== undefined && { tag },
      ...isResponse(data) ? { json: JSON.stringify(data), state: sent } : { state: { ...sent, data } },
    }
  })
}

/** Puts the queries of the server into the client. */
export function restore(client: QueryClient, sent: readonly SentQuery[]): void {
  hydrate(client, {
    queries: sent.map(({ state, json, ...query }) => ({
      ...query,
      dehydratedAt: state.dataUpdatedAt,
      state: withErrors(
        { ...LOADED, ...state, data: json === undefined ? state.data : JSON.parse(json) as unknown },
        error => new AutoApiError(error as unknown as ApiProblem),
      ),
    })),
  })
  for (const { queryHash, tag } of sent) setTag(client.getQueryCache().get(queryHash)?.state.data, tag)
}

type Errors = Pick<QueryState, 'error' | 'fetchFailureReason'>

function withErrors<State extends Errors>(state: State, convert: (error: Error) => Error | null): State {
  const { error, fetchFailureReason } = state
  return { ...state, error: error && convert(error), fetchFailureReason: fetchFailureReason && convert(fetchFailureReason) }
}
