/** Creates the document of a role outside of a server, for the command `openapi`. */
import type { AutoApiConfig } from '../../shared/config'
import { createOffline } from '../../server/kit/api'
import type { RouteRequest } from '../../server/kit/request'
import type { AutoApiUser, ResourceRegistration } from '../../server/kit/call'
import type { ListedPlugin } from '../../server/plugin/contract'
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
  const isAnonymous = roles.length + permissions.length === 0
  const user = isAnonymous ? null : { id: 'openapi', role: roles[0], roles, permissions } as unknown as AutoApiUser
  const { api, ctx } = await createOffline({ registrations, modules, config, plugins: [...plugins, own] }, { user, permissions })
  const { handler } = api.pluginRoutes.find(({ name }) => name === 'openapi')!
  const sent = { header: () => undefined, setHeader: () => {}, setStatus: () => {} } as unknown as RouteRequest
  return await handler(ctx, sent) as string
}
