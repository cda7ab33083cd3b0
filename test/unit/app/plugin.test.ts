/** The query client: one per app, hydrated with responses and errors, unless the app provides its own. */
import { QueryClient, VueQueryPlugin, type DehydratedState } from '@tanstack/vue-query'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createApp, ref, type App, type Ref } from 'vue'
import { AutoApiError } from '../../../src/runtime/app/error'
import { autoApiTag } from '../../../src/runtime/app/tags'

/** As it was in the server's page. */
let state: Ref<DehydratedState | undefined>

vi.mock('../../../src/runtime/app/nuxt', () => ({
  defineNuxtPlugin: (plugin: object) => plugin,
  useState: () => state,
}))

interface Plugin { setup: (nuxtApp: { vueApp: App, hook: (name: string, run: () => void) => void }) => void }

const hooks: Record<string, () => void> = {}

async function install(vueApp: App): Promise<QueryClient> {
  const { default: plugin } = await import('../../../src/runtime/app/plugin') as unknown as { default: Plugin }
  plugin.setup({ vueApp, hook: (name, run) => void (hooks[name] = run) })
  return vueApp._context.provides.VUE_QUERY_CLIENT as QueryClient
}

beforeEach(() => {
  state = ref()
})

describe('the query client', () => {
  it('is a new one for each app, so that requests do not share responses', async () => {
    const [one, other] = [await install(createApp({})), await install(createApp({}))]
    expect(one).toBeInstanceOf(QueryClient)
    expect(other).not.toBe(one)
  })

  it('is the app\'s own when it provides one', async () => {
    const own = new QueryClient()
    const app = createApp({}).use(VueQueryPlugin, { queryClient: own })
    expect(await install(app)).toBe(own)
  })

  it('starts in the browser with the server\'s responses and errors', async () => {
    const query = (hash: string, rest: object) => ({ queryHash: hash, queryKey: [hash], state: { dataUpdateCount: 1, dataUpdatedAt: 5, error: null, errorUpdateCount: 0, errorUpdatedAt: 0, fetchFailureCount: 0, fetchFailureReason: null, fetchMeta: null, isInvalidated: false, fetchStatus: 'idle', ...rest } })
    const problem = { status: 403, code: 'FORBIDDEN', message: 'You do not have permission to do this.', issues: [], fields: [], errors: [] }
    // As devalue brings it: plain data.
    state.value = { mutations: [], queries: [query('["list"]', { status: 'success', data: [1, 2] }), { ...query('["get"]', { status: 'success', data: { id: 1 } }), tag: '"a"' }, query('["refused"]', { status: 'error', data: undefined, error: problem, fetchFailureReason: problem })] } as unknown as DehydratedState
    const client = await install(createApp({}))
    expect(client.getQueryCache().get('["list"]')!.state).toMatchObject({ status: 'success', data: [1, 2], dataUpdatedAt: 5 })
    expect(autoApiTag(client.getQueryCache().get('["get"]')!.state.data)).toBe('"a"')
    const { error } = client.getQueryCache().get('["refused"]')!.state
    expect(error).toBeInstanceOf(AutoApiError)
    expect(error).toMatchObject(problem)
  })
})
