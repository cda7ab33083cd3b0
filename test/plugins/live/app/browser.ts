/** Browsers and tabs: each tab has its own Vue app and query client, and the tabs of a browser share locks and channels. */
import { createServer, type Server } from 'node:http'
import { Readable } from 'node:stream'
import type { AddressInfo } from 'node:net'
import { focusManager, QueryClient, VueQueryPlugin } from '@tanstack/vue-query'
import { ofetch } from 'ofetch'
import { vi } from 'vitest'
import { createApp, effectScope } from 'vue'
import type { Browser, Channel, Locks } from '../../../../src/runtime/plugins/live/app/browser'
import type { Live } from '../../../../src/runtime/plugins/live/app/live'
import type { Timing } from '../../../../src/runtime/plugins/live/app/timing'
import type { FakeServer } from './fake-server'

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the resources of these tests are not in the generated types
type Loose = Record<string, (...args: any[]) => any>

/** Short, so that the tests wait for little. */
export const QUICK: Timing = { silence: 60_000, firstDelay: 10, maxDelay: 40, gather: 5, linger: 40, refetch: 20 }

export interface Tab {
  readonly queryClient: QueryClient
  readonly live: Live
  readonly composables: Loose
  /** Calls composables as `setup` does. The returned function unmounts them. */
  readonly mount: <T>(run: () => T) => T & { readonly unmount: () => void }
  /** The data of a cached response, by the start of its key. */
  readonly cached: (resource: string, kind: string) => unknown
  readonly close: () => void
  /** Ends as a crashed tab: without a word. */
  readonly crash: () => void
}

export interface World {
  readonly openTab: (options?: { readonly browser?: FakeBrowser, readonly name?: string, readonly timing?: Timing }) => Tab
  readonly close: () => void
}

/** The facts that the build generates of the resources. */
const RESOURCES = {
  posts: { relations: { comments: { to: 'comments', many: true } } },
  comments: { relations: { post: { to: 'posts' } } },
  users: { relations: {} },
  articles: { relations: {} },
  totals: { key: ['postId'], tracks: ['posts'], relations: {} },
}

/** Serves on the loopback. */
export async function serve(api: FakeServer): Promise<{ readonly origin: string, readonly server: Server }> {
  const server = createServer((request, response) => {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const method = request.method!
    const body = method === 'GET' ? {} : { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' }
    const url = `http://localhost${request.url!}`
    void api.handle(new Request(url, { method, headers: request.headers as Record<string, string>, signal: gone.signal, ...body }))
      .then((answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers))
        response.flushHeaders()
        Readable.fromWeb(answer.body! as never).on('error', () => response.destroy()).pipe(response)
      })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

/** Opens tabs whose requests go to the server: on an origin, or in memory without one. */
export async function openWorld(server: Pick<FakeServer, 'handle'>, origin?: string): Promise<World> {
  const inMemory = (input: string, init: RequestInit) => server.handle(new Request(`http://localhost${input}`, init))
  const fetch = origin === undefined ? toFetch(inMemory) : ofetch.create({ baseURL: origin })
  vi.resetModules()
  vi.doMock('../../../../src/runtime/app/nuxt', () => ({
    prefix: '/api',
    hasNested: false,
    resources: RESOURCES,
    useNuxtApp: () => ({ isHydrating: false }),
    useRequestFetch: () => fetch,
  }))
  const { environmentManager } = await import('@tanstack/vue-query')
  environmentManager.setIsServer(() => false)
  const { createLive, LIVE } = await import('../../../../src/runtime/plugins/live/app/live')
  const { followQueries } = await import('../../../../src/runtime/plugins/live/app/follow')
  const { addQueryExtension } = await import('../../../../src/runtime/app/query-extensions')
  const { connectWith } = await import('../../../../src/runtime/plugins/live/app/connect')
  const { useClient } = await import('../../../../src/runtime/app/client')
  const composables = { ...await import('../../../../src/runtime/app'), ...await import('../../../../src/runtime/plugins/live/app') }
  const tabs = new Set<Tab>()

  function openTab({ browser = createBrowser(), name = 'tabs', timing = QUICK }: Parameters<World['openTab']>[0] = {}): Tab {
    const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } })
    const app = createApp({})
    app.use(VueQueryPlugin, { queryClient })
    const own = browser.openTab()
    const connect = connectWith(useClient())
    const live = createLive({ queryClient, connect, name: () => name, browser: own, timing, onPolling: () => {} })
    app.provide(LIVE, live)
    addQueryExtension(app, followQueries(live))
    live.start()
    const scopes = new Set<() => void>()
    const tab: Tab = {
      queryClient,
      live,
      composables: composables as unknown as Loose,
      mount(run) {
        const scope = effectScope()
        const unmount = () => {
          scope.stop()
          scopes.delete(unmount)
        }
        scopes.add(unmount)
        return { ...app.runWithContext(() => scope.run(run)!), unmount }
      },
      cached: (resource, kind) =>
        queryClient.getQueryCache().getAll().find(({ queryKey }) => queryKey[1] === resource && queryKey[2] === kind)?.state.data,
      close() {
        tabs.delete(tab)
        for (const unmount of scopes) unmount()
        live.stop()
        own.close()
        queryClient.clear()
      },
      crash() {
        own.close()
        tab.close()
      },
    }
    tabs.add(tab)
    return tab
  }

  return {
    openTab,
    close() {
      for (const tab of [...tabs]) tab.close()
      focusManager.setFocused(undefined)
    },
  }
}

/** As `$fetch` of Nuxt: an answer that is no success is thrown. */
function toFetch(send: (input: string, init: RequestInit) => Promise<Response>) {
  const request = (path: string, { query, ...init }: RequestInit & { readonly query?: Record<string, string> }) =>
    aborted(send(`${path}?${new URLSearchParams(query)}`, init), init.signal)
  const fetch = async (path: string, init: RequestInit) => {
    const response = await request(path, init)
    const data = await response.json() as unknown
    if (!response.ok) throw Object.assign(new Error('FetchError'), { status: response.status, data })
    return data
  }
  return Object.assign(fetch, { raw: request })
}

/** A request in memory ends when it is aborted, as one of a browser. */
const aborted = <T>(answer: Promise<T>, signal?: AbortSignal | null): Promise<T> => new Promise((resolve, reject) => {
  signal?.addEventListener('abort', () => reject(signal.reason as Error))
  answer.then(resolve, reject)
})

export interface FakeBrowser {
  /** What one tab has of the browser. Closing it releases its locks. */
  readonly openTab: () => Browser & { readonly close: () => void }
}

interface Waiting { readonly run: () => void, readonly tab: object }

/** Locks and channels as the tabs of one browser have them. */
export function createBrowser({ locks = true, channels = true } = {}): FakeBrowser {
  const queues = new Map<string, Waiting[]>()
  const listening = new Map<string, Map<Channel, (event: { readonly data: unknown }) => void>>()

  const release = (name: string, entry: Waiting) => {
    const queue = queues.get(name) ?? []
    const wasHeld = queue[0] === entry
    queues.set(name, queue.filter(other => other !== entry))
    if (wasHeld) queues.get(name)![0]?.run()
  }

  return {
    openTab() {
      const tab = {}
      let isClosed = false
      const request: Locks['request'] = (name, { signal }, hold) => new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error)
        const entry: Waiting = {
          tab,
          run: () => void hold().then(resolve, reject).finally(() => release(name, entry)),
        }
        const queue = queues.get(name) ?? []
        queues.set(name, [...queue, entry])
        signal?.addEventListener('abort', () => {
          if (queues.get(name)![0] === entry) return
          release(name, entry)
          reject(signal.reason as Error)
        })
        if (queue.length === 0) queueMicrotask(() => entry.run())
      })
      const opened = new Set<Channel>()
      const openChannel = (name: string): Channel => {
        const listeners = listening.get(name) ?? listening.set(name, new Map()).get(name)!
        const channel: Channel = {
          addEventListener: (_, listener) => void listeners.set(channel, listener),
          postMessage(message) {
            if (isClosed) return
            const data: unknown = structuredClone(message)
            for (const other of listeners.keys()) if (other !== channel) setTimeout(() => listeners.get(other)?.({ data }))
          },
          close: () => void listeners.delete(channel),
        }
        opened.add(channel)
        return channel
      }
      return {
        ...locks && { locks: { request } },
        ...channels && { openChannel },
        close() {
          isClosed = true
          for (const channel of opened) channel.close()
          for (const [name, queue] of queues)
            for (const entry of queue.filter(entry => entry.tab === tab)) release(name, entry)
        },
      }
    },
  }
}
