/** Creates the document of a role outside of a server, for the command `openapi`. */
import { createOffline, type Role, type RoleSource } from '../../server/kit/api'
import type { RouteRequest } from '../../server/kit/request'
import type { AutoApiUser } from '../../server/kit/call'
import type { ListedPlugin } from '../../server/plugin/contract'
import { openApi } from './index'
import type { OpenApiOptions } from './options'

/** `access` of the options has no effect here. @throws The error with which the server would not start. */
export async function describeRole(
  { registrations, modules, config, plugins, options }: RoleSource, { roles, permissions }: Role,
): Promise<string> {
  const own: ListedPlugin = { where: 'openapi', listed: () => openApi({ ...options as OpenApiOptions, access: true }) }
  const isAnonymous = roles.length + permissions.length === 0
  const user = isAnonymous ? null : { id: 'openapi', role: roles[0], roles, permissions } as unknown as AutoApiUser
  const { api, ctx } = await createOffline({ registrations, modules, config, plugins: [...plugins ?? [], own] }, { user, permissions })
  const { handler } = api.pluginRoutes.find(({ name }) => name === 'openapi')!
  const sent = { header: () => undefined, setHeader: () => {}, setStatus: () => {} } as unknown as RouteRequest
  return await handler(ctx, sent) as string
}
