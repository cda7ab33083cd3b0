/** Creates the document of a role outside of a server, for the command `openapi`. */
import type { AutoApiConfig } from '../../../shared/config'
import { createApi } from '../../kit/api'
import type { ApiRequest, RouteRequest } from '../../kit/request'
import { type AutoApiContext, type AutoApiUser, createContext, createSession, type ResourceRegistration } from '../../kit/call'
import type { ListedPlugin } from '../../plugin/contract'
import { openApi } from './index'
import type { OpenApiOptions } from './options'

export interface RoleSource {
  readonly registrations: readonly ResourceRegistration[]
  readonly modules: readonly Record<string, unknown>[]
  readonly config: AutoApiConfig
  readonly plugins: readonly ListedPlugin[]
  /** The options of the plugin in the app. `access` has no effect here. */
  readonly options: OpenApiOptions
}

export interface Role {
  /** Without a role and without permissions, the caller is anonymous. */
  readonly roles: readonly string[]
  readonly permissions: readonly string[]
}

/** @throws The error with which the server would not start. */
export async function describeRole(
  { registrations, modules, config, plugins, options }: RoleSource, { roles, permissions }: Role,
): Promise<string> {
  const own: ListedPlugin = { where: 'openapi', listed: () => openApi({ ...options, access: true }) }
  const api = createApi({ registrations, modules, config, plugins: [...plugins, own], builtPlugins: 'all', useStorage })
  await api.whenReady()
  const isAnonymous = roles.length + permissions.length === 0
  const user = isAnonymous ? null : { id: 'openapi', role: roles[0], roles, permissions } as unknown as AutoApiUser
  const request = requestOf(`${config.prefix}/_openapi.json`, { user, permissions: [...permissions] })
  const ctx = createContext(request, '', 'read')
  // The document does not depend on the tenant, but without one, no caller can use the rows of a tenant.
  ctx.tenant = { id: 'openapi' }
  createSession(api, ctx, request.engine)
  const { handler } = api.pluginRoutes.find(({ name }) => name === 'openapi')!
  const sent = { header: () => undefined, setHeader: () => {}, setStatus: () => {} } as unknown as RouteRequest
  return await handler(ctx as AutoApiContext, sent) as string
}

/** Outside of Nitro, every storage of a plugin exists. The description reads none. */
const useStorage = () => ({ getMount: (base: string) => ({ base, driver: DRIVER }) })

const DRIVER = {
  name: 'redis', options: {}, getInstance: () => undefined,
  getItemRaw: () => null, setItemRaw: () => {}, getItem: () => null, setItem: () => {}, removeItem: () => {}, getKeys: () => [],
}

/** The description of the API runs no statement, so the request has no database. */
function requestOf(path: string, caller: ApiRequest['caller']): ApiRequest {
  return {
    method: 'GET', path, resource: '', params: {}, query: {}, header: () => undefined, address: () => undefined, setHeader: () => {},
    body: async () => undefined, async* stream() {}, signal: () => new AbortController().signal, event: { path }, caller,
    engine: undefined as never, db: undefined,
  }
}
