/** The key of a caller, for limits of what one caller can do at a time. */
import type { AutoApiContext } from '../../registration'
import { toNetwork } from './ip-address'

/** The user, or the network of an anonymous caller. Callers without either share one key. */
export function callerKey(
  { user, credential }: AutoApiContext, { address }: { readonly address: () => string | undefined },
): string {
  const id = user?.id ?? credential?.id
  if (id !== undefined && id !== null) return `caller:${String(id)}`
  const network = address()
  return network === undefined ? '' : `network:${toNetwork(network)}`
}
