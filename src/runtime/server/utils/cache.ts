/** Server util that outdates stored responses after writes that the API does not know. */
import { didYouMean } from '../../shared/suggest'
import { useRuntime } from '../api/runtime'
import { invalidateResponses } from '../plugin/invalidation'
import { assertServer } from '../runtime'

/**
 * Outdates every stored response that was read from the resource. Call it after the commit of a write that the API does not know, such as
 * one with Drizzle or by another program. Does nothing if the plugin `responseCache` is not listed.
 * @throws When the resource is not registered.
 * @example
 * await db.update(posts).set({ views: 0 })
 * await invalidateCache('posts')
 */
export async function invalidateCache(resource: string): Promise<void> {
  assertServer('invalidateCache')
  const { resources, services } = useRuntime().api()
  const found = resources.get(resource)
  if (!found)
    throw new TypeError(
      `[auto-api] invalidateCache(): there is no resource \`${resource}\`.${didYouMean(resource, [...resources.keys()])}`,
    )
  await invalidateResponses(services, [resource])
}
