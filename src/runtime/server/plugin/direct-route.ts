/**
 * Routes of plugins that handle the request themselves. The API opens no session for such a route, because the route sends other requests
 * to the API, and each of them opens its own. One request of a client is then authenticated and counted once.
 */
import type { Route } from '../core/entries/route'
import type { PluginRoute } from './contract'
import { createAttached } from '../core/process/request-scoped'

const routes = createAttached<Route>('direct route')

/** Returns the handler of a route without a session. */
export function handleDirectly(run: Route): PluginRoute['handler'] {
  const handler: PluginRoute['handler'] = () => {
    throw new TypeError('[auto-api] This route has no session. The API calls it with the request.')
  }
  routes.set(handler, run)
  return handler
}

export const findDirectRoute = (handler: PluginRoute['handler']): Route | undefined => routes.get(handler)
