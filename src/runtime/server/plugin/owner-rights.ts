/** Whether a caller has all rights of its user. With the credential of a plugin, it can have fewer. */
import { toPermissions, requireSession } from '../core/request/session'
import { rolesOf, SUPER_ADMIN } from '../core/request/limits'
import type { AutoApiContext } from '../registration'
import { organizationOf, ownerId } from './owned-rows'
import type { FindUser } from './owner'

/**
 * Whether the caller has every permission and every role with which `findUser` returns its user, so that nothing that goes on with the
 * rights of the user can do more than the caller. It is asked once per request: all items of a bulk request have the same caller.
 * @param plugin the name of the plugin whose `findUser` it is
 */
export function hasAllRights(ctx: AutoApiContext, findUser: FindUser, plugin: string): Promise<boolean> {
  const { memo } = requireSession(ctx)
  const key = `${plugin}:has-all-rights`
  let answer = memo.get(key) as Promise<boolean> | undefined
  if (!answer) memo.set(key, answer = compareRights(ctx, findUser))
  return answer
}

async function compareRights(ctx: AutoApiContext, findUser: FindUser): Promise<boolean> {
  if (ctx.permissions.includes(SUPER_ADMIN)) return true
  const owner = await findUser(ownerId(ctx), { event: ctx.event, tenantId: organizationOf(ctx) })
  if (!owner) return false
  const roles = rolesOf(ctx.user)
  return toPermissions(owner.permissions).every(permission => ctx.permissions.includes(permission))
    && rolesOf(owner).every(role => role === undefined || roles.includes(role))
}
