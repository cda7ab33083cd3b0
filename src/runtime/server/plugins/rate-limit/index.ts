/** Refuses whoever asks too often: by address before anything is asked about the caller, by user, tenant or a key of the app's own after. */
import { rateLimited } from '../../core/error'
import { toNetwork } from '../../core/access/ip-address'
import type { IncomingRequest } from '../../core/listeners'
import type { ApiEvent } from '../../http'
import { defineAutoApiPlugin, type PluginServer } from '../../plugin/contract'
import type { AutoApiContext } from '../../registration'
import type { Counter } from './counter'
import { limitHeaders, toSeconds } from './headers'
import { keyOf } from './key'
import { EVERY, resolvePolicy, type RateLimitOptions } from './options'
import { resolveStore } from './store'

/**
 * Limits requests to the API: 429 `RATE_LIMITED` with `Retry-After`, and the `RateLimit` headers on every answer.
 * @throws For options that do not exist or cannot have their value, and on the server for a store that cannot count.
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
  const setup = ({ findStorage }: PluginServer) => void (counter = resolveStore(options.store, policy.maxKeys, findStorage))
  /** A handler that asks for its caller again is still one request. */
  const counted = new WeakSet<ApiEvent>()

  async function count(request: IncomingRequest, findKey: () => string | Promise<string>): Promise<void> {
    const found = policy.find(request.operations)
    // What is rendered while the app is built asks as fast as it can, and nobody else is there to be protected.
    if (found.length === 0 || counted.has(request.event) || import.meta.prerender) return
    counted.add(request.event)
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
          count(request, async () => (await keyOf(by, ctx)) ?? addressKey(request)),
      }
})

let warned = false

/** One key for all of whom nothing is known: a limit that whoever has no address escapes is none. */
function addressKey(request: IncomingRequest): string {
  const address = request.address()
  if (address !== undefined) return `ip:${toNetwork(address)}`
  if (!warned)
    console.warn(
      '[auto-api] rateLimit: a request came without an address; all of its kind are counted together. Behind a proxy or on a platform that passes the address on, set `autoApi.trustProxy`.',
    )
  warned = true
  return 'ip:unknown'
}

/** What the limits of a request have told so far: each adds to the lists. */
const told = new WeakMap<ApiEvent, Record<string, string>>()

function addHeaders({ event, setHeader }: IncomingRequest, headers: Readonly<Record<string, string>>): void {
  const lists = told.get(event) ?? {}
  told.set(event, lists)
  for (const [header, member] of Object.entries(headers)) {
    lists[header] = lists[header] === undefined ? member : `${lists[header]}, ${member}`
    setHeader(header, lists[header])
  }
}
