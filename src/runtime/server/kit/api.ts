/** Creates APIs and sessions, for plugins that describe the API to other callers. */
import { createApi, type ApiOptions, type ServerApi } from '../api/create'
import type { ApiRequest } from '../core/request/api-request'
import { createContext, createSession } from '../core/request/session'
import type { AutoApiContext, AutoApiUser } from '../registration'

export { useRuntime } from '../api/runtime'
export { openSessionAs } from '../core/request/open-session'

/** The caller of a document that is written outside of a server. Without a role and without permissions, the caller is anonymous. */
export interface Role {
  readonly roles: readonly string[]
  readonly permissions: readonly string[]
}

/** What a document is made from. */
export interface RoleSource extends Pick<ApiOptions, 'registrations' | 'modules' | 'config' | 'plugins'> {
  /** The options of the plugin in the app. */
  readonly options: unknown
}

export interface DescribedCaller {
  /** `null` for an anonymous caller. */
  readonly user: AutoApiUser | null
  readonly permissions: readonly string[]
}

/**
 * Creates an API outside of a server, and the context of a caller. The API has no database: it describes itself, and runs no statement.
 * @throws The error with which the server would not start.
 */
export async function createOffline(
  options: Omit<ApiOptions, 'builtPlugins' | 'useStorage'>, { user, permissions }: DescribedCaller,
): Promise<{ readonly api: ServerApi, readonly ctx: AutoApiContext }> {
  const api = createApi({ ...options, builtPlugins: 'all', useStorage })
  await api.whenReady()
  const request = requestOf(api.config.prefix, { user, permissions: [...permissions] })
  const ctx = createContext(request, '', 'read')
  // The description does not depend on the tenant, but without one, no caller can use the rows of a tenant.
  ctx.tenant = { id: 'offline' }
  createSession(api, ctx, request.engine)
  return { api, ctx: ctx as AutoApiContext }
}

/** Outside of Nitro, every storage of a plugin exists. A description reads none. */
const useStorage = () => ({ getMount: (base: string) => ({ base, driver: DRIVER }) })

const DRIVER = {
  name: 'redis', options: {}, getInstance: () => undefined,
  getItemRaw: () => null, setItemRaw: () => {}, getItem: () => null, setItem: () => {}, removeItem: () => {}, getKeys: () => [],
}

function requestOf(path: string, caller: ApiRequest['caller']): ApiRequest {
  return {
    method: 'GET', path, resource: '', params: {}, query: {}, header: () => undefined, address: () => undefined, setHeader: () => {},
    body: async () => undefined, async* stream() {}, signal: () => new AbortController().signal, event: { path }, caller,
    engine: undefined as never, db: undefined,
  }
}
