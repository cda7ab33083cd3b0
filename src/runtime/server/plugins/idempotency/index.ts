/** Makes writes safe to retry: a request with a key takes effect once, and a retry gets the response of the first request. */
import { defineAutoApiPlugin, type AutoApiPlugin } from '../../plugin/contract'
import { resolveTtl, type IdempotencyOptions } from './options'
import type { createIdempotency } from './server'

/**
 * Makes writes safe to retry with the header `Idempotency-Key`. Requires the table of `idempotencyKeysTable()`.
 * @throws If an option is unknown or invalid. On the server, also if the schema exports no such table.
 * @example
 * autoApi: { plugins: [idempotency({ ttl: '24h' })] }
 */
export const idempotency = defineAutoApiPlugin(
  { from: 'nuxt-auto-api/plugins', name: 'idempotency' },
  (options: IdempotencyOptions = {}): AutoApiPlugin => {
    const ttl = resolveTtl(options)
    let server: ReturnType<typeof createIdempotency>
    return {
      name: 'idempotency',
      // Loaded here, because nuxt.config loads this file without the server's modules.
      async setup(plugin) {
        server = (await import('./server')).createIdempotency(ttl, plugin)
      },
      around: (ctx, next, info) => server.around(ctx, next, info),
      inCommit: (changes, ctx) => server.inCommit(changes, ctx),
      onCommit: (changes, ctx) => server.onCommit(changes, ctx),
      tasks: { expired: { every: 60, run: due => server.removeExpired(due) } },
    }
  },
)
