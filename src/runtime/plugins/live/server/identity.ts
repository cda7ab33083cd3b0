/** Whether two streams are of the same caller, who can read the same. */
import { createHash, randomBytes } from 'node:crypto'
import type { AutoApiContext } from '../../../server/kit/call'
import type { Subscription } from './scopes'

/** An anonymous caller is another one than a user without an id. */
export const identityOf = ({ user, credential }: AutoApiContext): string =>
  JSON.stringify([user !== null, user?.id ?? null, credential?.id ?? null])

/**
 * Returns a function that marks streams: two of them have the same mark if their callers, and what these can read, are the same. A client
 * cannot find out by a mark what its caller can read.
 */
export function createMarks() {
  let salt: Uint8Array | undefined
  return (identity: string, subscriptions: readonly Subscription[]): string => {
    const parts = subscriptions.map(({ scope, readable }) => [scope.text, [...readable]])
    // Workers have no random bytes before their first request.
    return createHash('sha256').update(salt ??= randomBytes(16)).update(JSON.stringify([identity, parts])).digest('base64url').slice(0, 16)
  }
}
