/** The parts of the response cache that run on the server. `nuxt.config` does not load this file. */
import { andThen, type Awaitable } from '../../../server/kit/process'
import { ROUTES } from '../../../shared/routes'
import type { AroundInfo, Change, Listeners } from '../../../server/kit/listen'
import { type AutoApiContext, requireSession } from '../../../server/kit/call'
import { requireCurrentRows, type Statement, useKnownTotals } from '../../../server/kit/rows'
import { isRefusal } from '../../../server/kit/errors'
import type { ApiResponse } from '../../../server/kit/respond'
import type { PluginServer } from '../../../server/plugin/server'
import { ANY, dependenciesOf } from './dependencies'
import { isWatched, keyOf, totalKeyOf, toVary, WATCHED } from './key'
import type { KeyValue } from './key-value'
import { createMemoryStore } from './memory'
import type { CachePolicy } from '../options'
import { cacheStatus, eventHeaders, toEntry, toHit, toResponse } from './responses'
import { provideInvalidation } from '../../../server/plugin/invalidation'
import { createSharedStore } from './shared'
import type { Entry, Hit, Miss, Store } from './store'

export interface ServerPolicy extends Omit<CachePolicy, 'storage'> {
  /** Where servers share responses. Without it, this server stores its own in memory. */
  readonly storage?: KeyValue
}

type Next = () => Promise<ApiResponse>

/** The generated routes that read records. */
const READS: ReadonlySet<string> = new Set(
  ROUTES.filter(({ operation }) => operation === 'read' || operation === 'aggregate').map(({ name }) => name),
)
const WRITES: ReadonlySet<string> = new Set(
  ROUTES.filter(({ operation, name }) => operation !== null && !READS.has(name)).map(({ name }) => name),
)

export function createResponseCache(policy: ServerPolicy, server: PluginServer) {
  const { ttl, resources, maxBytes, storage } = policy
  const vary = toVary(policy.vary)
  let tables: readonly string[] | undefined
  const store: Store = storage ? createSharedStore(storage, () => tables ?? [], ttl) : createMemoryStore(maxBytes)
  /** The responses that are being read, by key and generations. A request that begins after a write does not wait for an earlier one. */
  const running = new Map<string, Promise<Entry | undefined>>()
  let build: unknown

  provideInvalidation(server.services, names => store.raise([...names, ANY]))

  /** Responds at once to a hit in memory. */
  function read(ctx: AutoApiContext, next: Next, key: string): Awaitable<ApiResponse> {
    return andThen(store.find(key), found => found ? respond(ctx, next, key, found) : bypass(next, 'storage'))
  }

  function respond(ctx: AutoApiContext, next: Next, key: string, found: Hit | Miss): Awaitable<ApiResponse> {
    return found.entry ? toHit(found.entry, isAlone(requireSession(ctx).api.listeners)) : miss(ctx, next, key, found)
  }

  async function miss(ctx: AutoApiContext, next: Next, key: string, found: Miss): Promise<ApiResponse> {
    const flight = `${key} ${found.moment}`
    const first = running.get(flight)
    if (!first) return load(ctx, next, flight, found)
    const shared = await first
    // A response that is not stored can have been made for the first request only.
    return shared ? toResponse(shared, 'fwd=miss; collapsed') : withStatus(await next(), 'fwd=miss')
  }

  async function load(ctx: AutoApiContext, next: Next, flight: string, { save }: Miss): Promise<ApiResponse> {
    let finish: (entry?: Entry) => void
    running.set(flight, new Promise(resolve => finish = resolve))
    let entry: Entry | undefined
    try {
      // A replica can lack a write that has already raised the generations. Nothing would outdate such a response.
      requireCurrentRows(requireSession(ctx))
      useKnownTotals(requireSession(ctx), (statement, reads, count) => findTotal(ctx, statement, reads, count))
      const before = eventHeaders(ctx.event)
      const wasRead = isWatched(ctx, vary) ? watch(ctx) : () => false
      const response = await next()
      const { api } = requireSession(ctx)
      const dependencies = response.reads && dependenciesOf(api, ctx.resource, response.reads, policy.reads)
      const isStorable = dependencies !== undefined && !wasRead() && eventHeaders(ctx.event) === before
      entry = isStorable ? await toEntry(response, ttl) : undefined
      if (!entry) return withStatus(response, 'fwd=miss')
      // Waiting requests need not wait for the storage.
      finish!(entry)
      await save(entry, dependencies!)
      return toResponse(entry, 'fwd=miss; stored')
    }
    finally {
      finish!(entry)
      // A request that looked for the response before it was saved continues now.
      if (entry) setTimeout(() => running.delete(flight), 0)
      else running.delete(flight)
    }
  }

  /** Pages of one list have the same total. It is stored by itself, so that another page need not count again. */
  async function findTotal(
    ctx: AutoApiContext, statement: Statement, reads: readonly string[] | undefined, count: () => Promise<number>,
  ): Promise<number> {
    const dependencies = reads && dependenciesOf(requireSession(ctx).api, ctx.resource, reads, policy.reads)
    const key = dependencies && totalKeyOf(ctx, vary, build, statement)
    const found = key === undefined ? undefined : await store.find(key)
    if (!found) return count()
    if (found.entry) return Number(found.entry.text)
    // The generations are newer than those of the response, and than the replica that the request may have chosen.
    requireCurrentRows(requireSession(ctx))
    const total = await count()
    await found.save({ text: String(total), etag: '', reads: reads!, expires: Date.now() + ttl * 1000 }, dependencies!)
    return total
  }

  /** A commit whose response was lost can have happened. */
  async function write(next: Next): Promise<ApiResponse> {
    try {
      return await next()
    }
    catch (error) {
      if (!isRefusal(error)) await store.raiseAll()
      throw error
    }
  }

  return {
    around(ctx: AutoApiContext, next: Next, { route, idempotent }: AroundInfo): Awaitable<ApiResponse> {
      // A batch, or an endpoint that writes.
      if (WRITES.has(route) || idempotent) return ctx.dryRun ? next() : write(next)
      if (!READS.has(route) || (resources && !resources.has(ctx.resource)) || ctx.dryRun) return next()
      if (!tables) {
        const { resources, graph } = requireSession(ctx).api
        tables = [...resources.keys(), ...[...graph.values()].filter(({ resource }) => !resource).map(({ facts }) => `table:${facts.name}`)]
        build = (server.runtimeConfig(ctx.event).app as { readonly buildId?: unknown } | undefined)?.buildId
      }
      const key = keyOf(ctx, route, vary, build)
      return key === undefined ? bypass(next, 'context') : read(ctx, next, key)
    },
    onCommit(changes: readonly Change[]): Awaitable<void> {
      return store.raise([ANY, ...new Set(changes.map(({ resource, table }) => resource ?? `table:${table}`))])
    },
  }
}

async function bypass(next: Next, detail: string): Promise<ApiResponse> {
  return withStatus(await next(), `fwd=bypass; detail=${detail}`)
}

/** Whether no other plugin receives the responses of the cache. */
function isAlone({ around, onResponse }: Listeners): boolean {
  return around.length === 1 && onResponse.length === 0
}

function withStatus(response: ApiResponse, state: string): ApiResponse {
  return { ...response, headers: { ...cacheStatus(state), ...response.headers } }
}

/** Returns whether something has read the request's metadata meanwhile. If it cannot notice that, it says so too. */
function watch(ctx: AutoApiContext): () => boolean {
  const value = Object.getOwnPropertyDescriptor(ctx, WATCHED)
  // The plugin `requestMetadata` defines such a property. Code can assign to any other one, which a getter would refuse.
  if (!value?.configurable || value.writable !== false) return () => true
  let wasRead = false
  Object.defineProperty(ctx, WATCHED, {
    enumerable: value.enumerable!,
    configurable: true,
    get() {
      wasRead = true
      return value.value as unknown
    },
  })
  return () => {
    Object.defineProperty(ctx, WATCHED, value)
    return wasRead
  }
}
