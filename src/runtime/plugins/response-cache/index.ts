/** Stores the responses of reads, and answers the same request of the same caller without the database. */
import { defineAutoApiPlugin, type AutoApiPlugin } from '../../server/plugin/contract'
import { imported } from '../../server/plugin/options'
import type { PluginServer } from '../../server/plugin/server'
import { didYouMean } from '../../shared/suggest'
import { resolveKeyValue } from './server/key-value'
import { resolveCachePolicy, type CachePolicy, type ResponseCacheOptions } from './options'
import type { createResponseCache } from './server/index'

/**
 * Stores the responses of lists, records, aggregates and relations. A request is authorized before it gets a stored response, and only a
 * caller with the same user, permissions and tenant gets it. Every write outdates the responses that were read from what it changes.
 * @throws If an option is unknown or a value is invalid. On the server, also if a resource or the storage does not exist.
 * @example
 * export default defineNuxtConfig({
 *   modules: ['nuxt-auto-api'],
 *   nitro: { storage: { responses: { driver: 'redis', url: process.env.REDIS_URL } } },
 *   autoApi: { plugins: [responseCache({ ttl: 300, storage: 'responses', resources: ['posts'] })] },
 * })
 */
export const responseCache = defineAutoApiPlugin(
  { from: 'nuxt-auto-api/plugins', name: 'responseCache' },
  (options: ResponseCacheOptions = {}): AutoApiPlugin => {
    const policy = resolveCachePolicy(options)
    let cache: ReturnType<typeof createResponseCache>
    return {
      name: 'responseCache',
      // Loaded here, because nuxt.config loads this file without the server's modules.
      setup(server) {
        assertResources(policy, server)
        const named = imported(policy.storage, 'responseCache.storage')
        const storage = named === undefined ? undefined : resolveKeyValue(named, server.storage)
        return import('./server/index').then(({ createResponseCache }) =>
          void (cache = createResponseCache({ ...policy, storage }, server)))
      },
      around: (ctx, next, info) => cache.around(ctx, next, info),
      onCommit: changes => cache.onCommit(changes),
    }
  },
)

/** @throws When an option names a resource that does not exist. */
function assertResources({ resources = new Set(), reads }: CachePolicy, server: PluginServer): void {
  const known = [...server.resources.keys()]
  const assert = (name: string, where: string) => {
    if (!known.includes(name))
      throw new Error(
        `[auto-api] \`responseCache.${where}\` names \`${name}\`, which is not a registered resource.${didYouMean(name, known)}`,
      )
  }
  for (const name of resources) assert(name, 'resources')
  for (const [name, dependencies] of Object.entries(reads)) {
    assert(name, 'reads')
    for (const dependency of dependencies) assert(dependency, `reads.${name}`)
  }
}
