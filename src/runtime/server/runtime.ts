/** The app's default API. It is created from the generated modules on first use. */
import { config, eventBase, server } from '#auto-api/config'
import { built, endpoints, plugins, reservedPaths } from '#auto-api/plugins'
import { registrations, schemaModules } from '#auto-api/registry'
import { useRuntimeConfig } from '#auto-api/runtime-config'
import { useStorage } from '#auto-api/storage'
import { createApi, type ServerApi } from './api/create'
import { provideDefaultApi, useRuntime } from './api/runtime'

export { pagesBelow } from '#auto-api/config'

provideDefaultApi(options => createApi({
  registrations: registrations(),
  modules: schemaModules(),
  config,
  eventBase,
  plugins: plugins(),
  builtPlugins: built,
  appRoutes: reservedPaths,
  endpoints,
  useRuntimeConfig,
  useStorage,
  ...options,
}), server)

/**
 * Returns the API of a request. Without an event, it returns the app's default API.
 * @throws When a registration cannot become a resource, or a plugin cannot be set up.
 */
export function useApi(event?: unknown): ServerApi {
  return useRuntime(event).api()
}

/** @throws When the code does not run in a server, because a registrar has no effect there. */
export function assertServer(name: string): void {
  if (!useRuntime().isServer())
    throw new Error(`[auto-api] ${name}() was called outside the server. Call it in a server plugin (server/plugins).`)
}
