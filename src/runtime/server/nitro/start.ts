/** Creates the API when the server starts, so that a wrong setup fails at startup and not at the first request. */
import { assertEndpoints } from '../core/entries/endpoint'
import { logSlowStatements } from '../core/process/slow-statements'
import { useApi } from '../runtime'
import { rememberEvent } from '../http/client-address'
import type { HttpEvent } from '../http/platform'
import { keepUnbuffered } from '../http/unbuffered'
import { beginAtSignal, endProcess, waitForWork, type Closing } from './stop'
import { refuseUnknownPaths, type RenderHooks } from './unknown-path'

/** The part of the argument of a Nitro plugin that this file uses. */
interface Nitro extends Closing {
  readonly hooks?: Closing['hooks'] & RenderHooks & { readonly hook: (name: 'request', listen: (event: HttpEvent) => void) => unknown }
}

/**
 * The Nitro plugin that starts the API.
 * @throws When a registration cannot become a resource, a plugin cannot be set up, or an endpoint names a gate that does not exist.
 */
export default function start(nitro: Nitro): void {
  waitForWork(nitro, () => api.listeners.onStop)
  nitro.hooks?.hook('request', rememberEvent)
  const api = useApi()
  nitro.hooks?.hook('request', event => keepUnbuffered(event, api.mountPath, api.config.http.maxBodySize))
  refuseUnknownPaths(nitro.hooks, api)
  if (api.config.slowStatements !== false) logSlowStatements(api.config.slowStatements)
  assertEndpoints(api)
  api.whenReady()?.catch((error: unknown) => {
    console.error('[auto-api] A plugin could not be set up; the server ends.', error)
    // Platforms without a process respond to every request with an error.
    globalThis.process?.exit?.(1)
  })
  // The other server plugins have set the database when this runs.
  void Promise.resolve(api.whenReady()).then(() => {
    endProcess(nitro)
    beginAtSignal(api.listeners.onStop)
    api.scheduler.warnIfShared()
  }, () => {})
}
