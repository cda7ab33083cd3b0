/** One query client per request, handed over from the server to the browser; none where the app has its own. */
import { dehydrate, hydrate, QueryClient, VueQueryPlugin, type DehydratedState } from '@tanstack/vue-query'
import { AutoApiError, toProblem, type ApiProblem } from './error'
import { defineNuxtPlugin, useState, type Plugin } from './nuxt'

const plugin: Plugin = defineNuxtPlugin({
  name: 'auto-api:query',
  setup(nuxtApp) {
    // The key under which vue-query provides its client.
    if ('VUE_QUERY_CLIENT' in nuxtApp.vueApp._context.provides) return
    const client = new QueryClient()
    nuxtApp.vueApp.use(VueQueryPlugin, { queryClient: client })

    const state = useState<DehydratedState | undefined>('auto-api', () => undefined)
    if (import.meta.server) nuxtApp.hook('app:rendered', () => void (state.value = pack(client)))
    else if (state.value) hydrate(client, unpack(state.value))
  },
})

export default plugin

/** Refusals are answers, too: the browser shows what the server has rendered. */
function pack(client: QueryClient): DehydratedState {
  const { queries, mutations } = dehydrate(client, {
    shouldDehydrateQuery: ({ state }) => state.status === 'success' || state.error instanceof AutoApiError,
  })
  return {
    mutations,
    queries: queries.map(query => ({
      ...query,
      state: { ...query.state, ...withErrors(query.state, error => (error instanceof AutoApiError ? (toProblem(error) as never) : null)) },
    })),
  }
}

function unpack(packed: DehydratedState): DehydratedState {
  return {
    ...packed,
    queries: packed.queries.map(query => ({
      ...query,
      state: { ...query.state, ...withErrors(query.state, error => new AutoApiError(error as unknown as ApiProblem)) },
    })),
  }
}

interface Errors { error: Error | null, fetchFailureReason: Error | null }

function withErrors({ error, fetchFailureReason }: Errors, convert: (error: Error) => Error | null): Errors {
  return { error: error && convert(error), fetchFailureReason: fetchFailureReason && convert(fetchFailureReason) }
}
