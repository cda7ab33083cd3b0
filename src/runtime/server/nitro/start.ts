/** What happens when the server starts: everything that is wrong with the set-up stops it now, not at somebody's request. */
import { assertEndpoints } from '../core/endpoint'
import { useApi } from '../runtime'
import { rememberEvent, type ClientEvent } from '../client-address'

/** The part of Nitro that tells of requests, in both versions. */
interface Nitro {
  readonly hooks?: { readonly hook: (name: 'request', listen: (event: ClientEvent) => void) => unknown }
}

/** A Nitro plugin. @throws When a registration cannot become a resource, a plugin cannot be set up, or an endpoint names a gate that there is not. */
export default function start(nitro: Nitro): void {
  nitro.hooks?.hook('request', rememberEvent)
  const api = useApi()
  assertEndpoints(api)
  api.whenReady()?.catch((error: unknown) => {
    console.error('[auto-api] A plugin could not be set up; the server ends.', error)
    // Where there is no process to end, every request is answered with an error.
    globalThis.process?.exit?.(1)
  })
}
