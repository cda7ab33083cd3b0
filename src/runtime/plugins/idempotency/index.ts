/** Makes writes safe to retry: a request with a key takes effect once, and a retry gets the response of the first request. */
import type { Table } from 'drizzle-orm'
import { defineAutoApiPlugin, type AutoApiPlugin } from '../../server/plugin/contract'
import { provideFeatures } from '../../server/plugin/features'
import { resolveTtl, type IdempotencyOptions } from './options'
import type { createIdempotency } from './server/index'

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
      setup(plugin) {
        const table = requireTable(plugin.presetTable('idempotencyKeys'))
        provideFeatures(plugin, { idempotency: true })
        return import('./server/index').then(({ createIdempotency }) => void (server = createIdempotency(ttl, table)))
      },
      around: (ctx, next, info) => server.around(ctx, next, info),
      inCommit: (changes, ctx) => server.inCommit(changes, ctx),
      onCommit: (changes, ctx) => server.onCommit(changes, ctx),
      tasks: { expired: { every: 60, run: due => server.removeExpired(due) } },
    }
  },
)

/** @throws When the schema exports no table for the keys. */
function requireTable(table: Table | undefined): Table {
  if (table) return table
  throw new Error(
    '[auto-api] idempotency: the schema exports no table of `idempotencyKeysTable()`. Export it from a file that contains a '
    + 'registered table: `export const idempotencyKeys = idempotencyKeysTable()`, and run your migrations.',
  )
}
