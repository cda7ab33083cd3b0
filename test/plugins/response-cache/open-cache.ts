/** A response cache without an API around it: a test sends it contexts, and decides what the rest of the API responds. */
import { vi } from 'vitest'
import type { Api } from '../../../src/runtime/server/core/api'
import { createSession } from '../../../src/runtime/server/core/request/session'
import type { ApiResponse } from '../../../src/runtime/server/core/extensions/response'
import type { Engine } from '../../../src/runtime/server/engines/engine'
import { createServices } from '../../../src/runtime/server/core/extensions/services'
import type { PluginServer } from '../../../src/runtime/server/plugin/server'
import type { KeyValue } from '../../../src/runtime/plugins/response-cache/server/key-value'
import { createResponseCache, type ServerPolicy } from '../../../src/runtime/plugins/response-cache/server/index'
import type { AutoApiContext } from '../../../src/runtime/server/registration'

export const HIT = 'auto-api; hit'
export const STORED = 'auto-api; fwd=miss; stored'
export const COLLAPSED = 'auto-api; fwd=miss; collapsed'
export const MISS = 'auto-api; fwd=miss'

/** A storage that several caches can share. */
export function createItems() {
  const items = new Map<string, string>()
  const storage: KeyValue = {
    getAll: vi.fn(async (keys: readonly string[]) => keys.map(key => items.get(key) ?? null)),
    set: async (key, value) => void items.set(key, value),
    setAll: async pairs => pairs.forEach(([key, value]) => items.set(key, value)),
    create: async pairs => pairs.forEach(([key, value]) => items.has(key) || items.set(key, value)),
  }
  return { items, storage }
}

export const statusOf = ({ headers }: ApiResponse) => headers?.['Cache-Status']?.replace(/; ttl=\d+/, '')

interface CacheOptions extends Partial<ServerPolicy> {
  /** The resources with a read hook. */
  readonly hooked?: readonly string[]
  /** The numbers of plugins with `around` and with `onResponse`. */
  readonly around?: number
  readonly onResponse?: number
  readonly build?: string
}

/** Two resources, `posts` and `tags`, and the table `links` without a resource. */
export function openCache({ hooked = [], around = 1, onResponse = 0, build, ...policy }: CacheOptions = {}) {
  const resources = new Map(['posts', 'tags'].map(name => [name, { name }]))
  const nodes = [...resources.values()].map(resource => ({ resource, facts: { name: resource.name } }))
  const api = {
    resources,
    graph: new Map([...nodes, { facts: { name: 'links' } }].map(node => [{}, node])),
    hooks: { find: ({ name }: { name: string }) => hooked.includes(name) ? [() => {}] : [] },
    rowFilters: new Map(),
    rowChecks: new Map(),
    listeners: { around: Array.from({ length: around }), onResponse: Array.from({ length: onResponse }) },
  } as unknown as Api
  const requireCurrent = vi.fn()
  const services = createServices()
  const server = { services, runtimeConfig: () => build === undefined ? {} : { app: { buildId: build } } } as unknown as PluginServer
  const cache = createResponseCache({ ttl: 60, reads: {}, vary: [], maxBytes: 1e6, ...policy }, server)
  function createContext(changes: object = {}): AutoApiContext {
    const context: object = {
      user: null, permissions: [], tenant: undefined, event: {}, resource: 'posts', operation: 'read', params: {}, query: {}, dryRun: false,
    }
    const ctx = Object.defineProperties({ ...context }, Object.getOwnPropertyDescriptors(changes)) as AutoApiContext
    createSession(api, ctx, { requireCurrent } as unknown as Engine)
    return ctx
  }
  const send = (ctx: AutoApiContext, next: () => Promise<ApiResponse>, route = 'list') =>
    cache.around(ctx, next, { route } as Parameters<typeof cache.around>[2])
  /** Reads in a new context, and returns the state of the cache. */
  const read = async (changes: object = {}, response: Partial<ApiResponse> = {}, route = 'list') =>
    statusOf(await send(createContext(changes), async () => respond(response), route))
  return { cache, services, requireCurrent, createContext, send, read }
}

export const respond = (changes: Partial<ApiResponse> = {}): ApiResponse => ({
  status: 200,
  body: { data: [] },
  reads: ['posts'],
  ...changes,
})

/** A promise that a test resolves when it wants to. */
export function createGate() {
  let open!: () => void
  const opened = new Promise<void>(resolve => open = resolve)
  return { opened, open }
}
