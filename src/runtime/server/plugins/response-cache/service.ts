/** Lets the server util `invalidateCache` reach the response caches of an API. */
import type { CommitListener } from '../../core/changes'

type Invalidate = (names: readonly string[]) => void | Promise<void>

const caches = new WeakMap<CommitListener, Invalidate>()

/** @param listener `onCommit` of the plugin, which identifies it in the API */
export function provideInvalidation(listener: CommitListener, invalidate: Invalidate): void {
  caches.set(listener, invalidate)
}

/** Outdates the responses that were read from the resources or tables. Does nothing if the API has no response cache. */
export async function invalidateResponses(listeners: readonly CommitListener[], names: readonly string[]): Promise<void> {
  for (const listener of listeners) await caches.get(listener)?.(names)
}
