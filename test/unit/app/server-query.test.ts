/** A query of a component that the server renders has the values of TanStack's own `useQuery` and `useInfiniteQuery`. */
import { setTimeout } from 'node:timers/promises'
import {
  environmentManager, InfiniteQueryObserver, keepPreviousData, QueryClient, QueryObserver, useInfiniteQuery, useQuery, VueQueryPlugin,
} from '@tanstack/vue-query'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { computed, createSSRApp, defineComponent, h, isRef, onServerPrefetch, ref, toValue, type Ref } from 'vue'
import { renderToString } from 'vue/server-renderer'
import { useServerQuery } from '../../../src/runtime/app/server-query'

beforeAll(() => environmentManager.setIsServer(() => true))
afterAll(() => environmentManager.setIsServer(() => typeof window === 'undefined'))

interface Query {
  readonly [value: string]: unknown
  readonly status: Ref<string>
  readonly suspense: () => Promise<unknown>
  readonly refetch: (options?: object) => Promise<unknown>
}

/** What a case may change between `setup` and the render. */
interface Setting {
  readonly client: QueryClient
  readonly enabled: Ref<boolean>
  readonly id: Ref<number>
  /** The keys that were requested. */
  readonly requested: unknown[]
}

interface Case {
  readonly options: (setting: Setting) => Record<string, unknown>
  /** Runs at the end of `setup`. */
  readonly then?: (setting: Setting, query: Query) => unknown
  readonly pages?: true
}

const load = ({ requested }: Setting) => async ({ queryKey, pageParam }: { queryKey: readonly unknown[], pageParam?: unknown }) => {
  requested.push(pageParam === undefined ? queryKey : [queryKey, pageParam])
  await setTimeout()
  return { id: queryKey[1], titles: ['One', 'Two'] }
}
const refuse = ({ requested }: Setting) => async ({ queryKey }: { queryKey: readonly unknown[] }) => {
  requested.push(queryKey)
  await setTimeout()
  throw new Error('Refused.')
}

const CASES: Record<string, Case> = {
  'a response': { options: setting => ({ queryKey: ['post', 1], queryFn: load(setting) }) },
  'a part of a response': {
    options: setting => ({ queryKey: ['post', 1], queryFn: load(setting), select: ({ titles }: { titles: string[] }) => titles.length }),
  },
  'a selection that fails': {
    options: setting => ({
      queryKey: ['post', 1],
      queryFn: load(setting),
      select: () => {
        throw new Error('Unknown.')
      },
    }),
  },
  'a refusal': { options: setting => ({ queryKey: ['post', 1], queryFn: refuse(setting) }) },
  'a refusal that fails the page': { options: setting => ({ queryKey: ['post', 1], queryFn: refuse(setting), throwOnError: true }) },
  'a refusal that a function lets fail the page': {
    options: setting => ({ queryKey: ['post', 1], queryFn: refuse(setting), throwOnError: ({ message }: Error) => message === 'Refused.' }),
  },
  'a refusal that a function does not let fail the page': {
    options: setting => ({ queryKey: ['post', 1], queryFn: refuse(setting), throwOnError: () => false }),
  },
  'a query that is off': { options: setting => ({ queryKey: ['post', 1], queryFn: load(setting), enabled: false }) },
  'a query that is turned on after setup': {
    options: setting => ({ queryKey: ['post', 1], queryFn: load(setting), enabled: setting.enabled.value }),
    then: ({ enabled }) => void (enabled.value = true),
  },
  'a key that changes after setup': {
    options: setting => ({ queryKey: ['post', setting.id.value], queryFn: load(setting) }),
    then: ({ id }) => void (id.value = 2),
  },
  'a key with refs and functions': {
    options: setting => ({
      queryKey: ['post', setting.id, { filter: { of: () => setting.id.value, on: [setting.id] } }],
      queryFn: load(setting),
    }),
  },
  'initial data': { options: setting => ({ queryKey: ['post', 1], queryFn: load(setting), initialData: { id: 1, titles: [] } }) },
  'placeholder data': { options: setting => ({ queryKey: ['post', 1], queryFn: load(setting), placeholderData: { id: 0, titles: [] } }) },
  'the previous data as a placeholder': {
    options: setting => ({ queryKey: ['post', setting.id.value], queryFn: load(setting), placeholderData: keepPreviousData }),
    then: ({ id }) => void (id.value = 2),
  },
  'a second request': {
    options: setting => ({ queryKey: ['post', 1], queryFn: load(setting) }),
    then: async (_, query) => {
      await query.suspense()
      await query.refetch()
    },
  },
  'data that the page sets': {
    options: setting => ({ queryKey: ['post', 1], queryFn: load(setting) }),
    then: async ({ client }, query) => {
      await query.suspense()
      client.setQueryData(['post', 1], { id: 1, titles: ['Set'] })
    },
  },
  'a request that is cancelled': {
    options: setting => ({ queryKey: ['post', 1], queryFn: load(setting) }),
    then: ({ client }) => client.cancelQueries(),
  },
  'pages': {
    options: setting => ({ queryKey: ['posts'], queryFn: load(setting), initialPageParam: '', getNextPageParam: () => 'next' }),
    then: async (_, query) => {
      await query.suspense()
      await (query.fetchNextPage as () => Promise<unknown>)()
    },
    pages: true,
  },
}

/** Renders a component with the query, and returns everything that the page can see. */
async function render({ options, then, pages }: Case, ours: boolean): Promise<unknown> {
  const setting: Setting = { client: new QueryClient(), enabled: ref(false), id: ref(1), requested: [] }
  const useTanStack = (pages ? useInfiniteQuery : useQuery) as (options: unknown) => unknown
  const current = () => ({ staleTime: Infinity, retry: false, shallow: true, ...options(setting) }) as never
  const seen: unknown[] = []
  const page = defineComponent({
    async setup() {
      const Observer = pages ? InfiniteQueryObserver : QueryObserver
      const query = (ours ? useServerQuery(Observer as never, current) : useTanStack(computed(current))) as Query
      seen.push(valuesOf(query))
      onServerPrefetch(async () => {
        const { enabled = true } = options(setting)
        if (enabled && query.status.value === 'pending') seen.push(Object.keys(await query.suspense() as object).sort())
      })
      await then?.(setting, query)
      return () => h('p', JSON.stringify(valuesOf(query)))
    },
  })
  const app = createSSRApp(page).use(VueQueryPlugin, { queryClient: setting.client })
  app.config.errorHandler = error => void seen.push(String(error))
  return {
    html: await renderToString(app),
    seen,
    requested: setting.requested,
    cached: setting.client
      .getQueryCache()
      .getAll()
      .map(({ queryHash }) => queryHash),
  }
}

/** The names of functions, and the values; a time is only whether there is one. */
const valuesOf = (query: Query) => Object.fromEntries(Object.entries(query).sort().map(([name, value]) => {
  const plain = isRef(value) ? toValue(value) : typeof value
  return [name, name.endsWith('UpdatedAt') ? Number(plain) > 0 : plain instanceof Error ? plain.message : plain]
}))

describe('a query of a rendered component', () => {
  it.each(Object.entries(CASES))('has the values of TanStack\'s for %s', async (_, test) => {
    const expected = await render(test, false)
    expect(await render(test, true)).toEqual(expected)
  })

  it('shares the response with other components of the page', async () => {
    const client = new QueryClient()
    let requests = 0
    const options = () => ({ queryKey: ['post'], queryFn: () => Promise.resolve(++requests), staleTime: Infinity })
    const part = defineComponent({
      setup() {
        const query = useServerQuery(QueryObserver as never, options) as unknown as Query & { data: Ref<number> }
        onServerPrefetch(query.suspense)
        return () => h('p', query.data.value)
      },
    })
    const app = createSSRApp({ render: () => [h(part), h(part)] }).use(VueQueryPlugin, { queryClient: client })
    expect(await renderToString(app)).toBe('<!--[--><p>1</p><p>1</p><!--]-->')
  })

  it('ignores a value that the page assigns, as TanStack does', async () => {
    const page = defineComponent({
      setup() {
        const { data } = useServerQuery(QueryObserver as never, () => ({ queryKey: ['post'], initialData: 1, enabled: false })) as {
          data: Ref<number>
        }
        data.value = 2
        return () => h('p', data.value)
      },
    })
    expect(await renderToString(createSSRApp(page).use(VueQueryPlugin, { queryClient: new QueryClient() }))).toBe('<p>1</p>')
  })
})
