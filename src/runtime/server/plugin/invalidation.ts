/** Lets the server util `invalidateCache` reach the plugins of an API that store responses. */
import type { Awaitable } from '../core/awaitable'
import { defineService, type Services } from '../core/extensions/services'

type Invalidate = (names: readonly string[]) => Awaitable<void>

const CACHES = defineService<readonly Invalidate[]>('response caches')

export function provideInvalidation(services: Services, invalidate: Invalidate): void {
  services.set(CACHES, [...services.get(CACHES) ?? [], invalidate])
}

/** Outdates the responses that were read from the resources or tables. Does nothing if the API has no response cache. */
export async function invalidateResponses(services: Services, names: readonly string[]): Promise<void> {
  for (const invalidate of services.get(CACHES) ?? []) await invalidate(names)
}
