/** The query client: one per app, hydrated with responses and errors, unless the app provides its own. */
import { QueryClient, VueQueryPlugin } from '@tanstack/vue-query'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createApp, ref, type App, type Ref } from 'vue'
import { AutoApiError } from '../../../src/runtime/app/error'
import { autoApiTag } from '../../../src/runtime/app/tags'

/** As it was in the server's page. */
let state: Ref<unknown>

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
    const problem = {
      status: 403,
      code: 'FORBIDDEN',
      message: 'You do not have permission to do this.',
      issues: [],
      fields: [],
      errors: [],
    }
    // As devalue brings it: plain data, and only the parts that differ from a query with one response.
    const sent = (name: string, differing: object, tag?: string) => ({ queryKey: [name], queryHash: `["${name}"]`, state: differing, tag })
    const failed = {
      status: 'error',
      error: problem,
      fetchFailureReason: problem,
      dataUpdateCount: 0,
      dataUpdatedAt: 0,
      errorUpdateCount: 1,
      errorUpdatedAt: 5,
      fetchFailureCount: 1,
    }
    state.value = [
      sent('list', { data: [1, 2], dataUpdatedAt: 5 }),
      sent('get', { data: { id: 1 }, dataUpdatedAt: 5 }, '"a"'),
      sent('refused', failed),
    ]
    const client = await install(createApp({}))
    expect(client.getQueryCache().get('["list"]')!.state).toEqual({
      data: [1, 2], dataUpdatedAt: 5, dataUpdateCount: 1, error: null, errorUpdateCount: 0, errorUpdatedAt: 0, fetchFailureCount: 0,
      fetchFailureReason: null, fetchMeta: null, isInvalidated: false, status: 'success', fetchStatus: 'idle',
    })
    expect(autoApiTag(client.getQueryCache().get('["get"]')!.state.data)).toBe('"a"')
    const { error, ...refused } = client.getQueryCache().get('["refused"]')!.state
    expect(refused).toMatchObject({ status: 'error', dataUpdateCount: 0, errorUpdateCount: 1, fetchFailureCount: 1 })
    expect(error).toBeInstanceOf(AutoApiError)
    expect(error).toMatchObject(problem)
  })
})
