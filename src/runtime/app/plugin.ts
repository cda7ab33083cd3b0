/** Provides one query client per request and sends its state from the server to the browser. Does nothing if the app provides a client. */
import { dehydrate, hydrate, QueryClient, VueQueryPlugin, type DehydratedState } from '@tanstack/vue-query'
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

    const state = useState<DehydratedState | undefined>('auto-api', () => undefined)
    if (import.meta.server) nuxtApp.hook('app:rendered', () => void (state.value = dehydrateWithErrors(client)))
    else if (state.value) {
      hydrate(client, restoreErrors(state.value))
      restoreTags(client, state.value)
    }
  },
})

export default plugin

/** Includes the errors of the API, so that the browser shows the same page as the server. */
function dehydrateWithErrors(client: QueryClient): DehydratedState {
  const { queries, mutations } = dehydrate(client, {
    shouldDehydrateQuery: ({ state }) => state.status === 'success' || state.error instanceof AutoApiError,
  })
  return {
    mutations,
    queries: queries.map(query => ({
      ...query,
      // Only the record itself has a tag, and the browser receives a copy.
      tag: autoApiTag(query.state.data),
      state: { ...query.state, ...withErrors(query.state, error => (error instanceof AutoApiError ? (toProblem(error) as never) : null)) },
    })),
  }
}

function restoreErrors(dehydrated: DehydratedState): DehydratedState {
  return {
    ...dehydrated,
    queries: dehydrated.queries.map(query => ({
      ...query,
      state: { ...query.state, ...withErrors(query.state, error => new AutoApiError(error as unknown as ApiProblem)) },
    })),
  }
}

function restoreTags(client: QueryClient, { queries }: DehydratedState): void {
  for (const { queryHash, tag } of queries as readonly { readonly queryHash: string, readonly tag?: string }[])
    setTag(client.getQueryCache().get(queryHash)?.state.data, tag)
}

interface Errors { error: Error | null, fetchFailureReason: Error | null }

function withErrors({ error, fetchFailureReason }: Errors, convert: (error: Error) => Error | null): Errors {
  return { error: error && convert(error), fetchFailureReason: fetchFailureReason && convert(fetchFailureReason) }
}
