/** Limits requests: by address before the caller is resolved, or by user, tenant or the app's own key afterwards. */
import { type Awaitable, createAttached } from '../../server/kit/process'
import { rateLimited } from '../../server/kit/errors'
import { toNetwork } from '../../server/kit/request'
import type { IncomingRequest } from '../../server/kit/listen'
import { defineAutoApiPlugin } from '../../server/plugin/contract'
import { provideFeatures } from '../../server/plugin/features'
import type { PluginServer } from '../../server/plugin/server'
import { imported } from '../../server/plugin/options'
import type { AutoApiContext } from '../../server/kit/call'
import type { Counter } from '../../server/plugin/counter/memory'
import { toSeconds } from '../../server/plugin/counter/memory'
import { limitHeaders } from './server/headers'
import { keyOf } from './server/key'
import { EVERY, resolvePolicy, type RateLimitOptions } from './options'
import { resolveStore } from '../../server/plugin/counter/store'

/**
 * Limits requests to the API: 429 `RATE_LIMITED` with `Retry-After`, and the `RateLimit` headers on every response.
 * @throws If an option is unknown or a value is invalid. On the server, also if the store cannot count.
 * @example
 * export default defineNuxtConfig({
 *   modules: ['nuxt-auto-api'],
 *   nitro: { storage: { limits: { driver: 'redis', url: process.env.REDIS_URL } } },
 *   autoApi: {
 *     plugins: [rateLimit({ limit: 300, window: 60, operations: { create: { limit: 20 } }, store: 'limits' })],
 *   },
 * })
 */
export const rateLimit = defineAutoApiPlugin({ from: 'nuxt-auto-api/plugins', name: 'rateLimit' }, (options: RateLimitOptions = {}) => {
  const policy = resolvePolicy(options)
  const { name, by } = policy
  let counter: Counter
  const setup = (server: PluginServer) => {
    provideFeatures(server, { rateLimit: true })
    imported(by, 'rateLimit.by')
    counter = resolveStore(imported(options.store, 'rateLimit.store'), policy.maxKeys, server.storage)
  }
  /** The counted requests. If a handler resolves its caller again, its request is not counted again. */
  const counted = createAttached<true>('counted')

  async function count(request: IncomingRequest, findKey: () => Awaitable<string>): Promise<void> {
    const found = policy.find(request.operations)
    // Prerendering sends requests as fast as it can, and has no other clients to protect.
    if (found.length === 0 || counted.get(request.event) || import.meta.prerender) return
    counted.set(request.event, true)
    const key = await findKey()
    const hits = await Promise.all(found.map(({ limit, group }) => counter.hit(`rate-limit:${name}:${group}:${key}`, limit.window * 1000)))
    let wait: number | undefined
    for (const [index, { limit, group }] of found.entries()) {
      const hit = hits[index]!
      addHeaders(request, limitHeaders(group === EVERY ? name : `${name}-${group}`, limit, hit))
      if (hit.count > limit.limit) wait = Math.max(wait ?? 0, hit.left)
    }
    if (wait !== undefined) throw rateLimited(toSeconds(wait))
  }

  return by === 'ip'
    ? { name, setup, onRequest: request => count(request, () => addressKey(request)) }
    : {
        name,
        setup,
        onCaller: (ctx: AutoApiContext, request: IncomingRequest) =>
          count(request, async () => (await keyOf(imported(by, 'rateLimit.by'), ctx)) ?? addressKey(request)),
      }
})

let warned = false

/** Requests without an address share one key: otherwise they would have no limit. */
function addressKey(request: IncomingRequest): string {
  const address = request.address()
  if (address !== undefined) return `ip:${toNetwork(address)}`
  if (!warned)
    console.warn(
      '[auto-api] rateLimit: a request has no address. All such requests are counted together. '
      + 'Behind a proxy, or on a platform that passes the address on, set `autoApi.trustProxy`.',
    )
  warned = true
  return 'ip:unknown'
}

/** The rate limit headers that each request has so far. Each limit adds a member to their lists. */
const sentHeaders = createAttached<Record<string, string>>('rate limit headers')

function addHeaders({ event, setHeader }: IncomingRequest, headers: Readonly<Record<string, string>>): void {
  const lists = sentHeaders.get(event) ?? {}
  sentHeaders.set(event, lists)
  for (const [header, member] of Object.entries(headers)) {
    lists[header] = lists[header] === undefined ? member : `${lists[header]}, ${member}`
    setHeader(header, lists[header])
  }
}
