/** Finds the owner of a stored row, such as a token, with the rights that the owner has now. */
import type { AutoApiConfig } from '../../shared/config'
import type { Awaitable } from '../core/awaitable'
import { logError } from '../core/process/log'
import type { AutoApiContext, AutoApiUser, Tenant } from '../registration'

/** What `findUser` knows about the request. */
export interface FindUserOptions {
  readonly event: AutoApiContext['event']
  /** The organization in which the row was made, as text. `null` if its owner had none. */
  readonly tenantId: string | null
}

/**
 * Finds the owner of a token or a webhook with its current permissions and roles. It returns `null` if the user does not exist, is banned,
 * or is no longer a member of the organization.
 */
export type FindUser = (userId: string, options: FindUserOptions) => Awaitable<AutoApiUser | null>

/** The columns of a row that say whose it is. */
export interface OwnedRow {
  readonly userId: string
  readonly organizationId: string | null
}

export interface FindOwnerOptions {
  readonly findUser: FindUser
  readonly config: AutoApiConfig
  readonly event: AutoApiContext['event']
  /** The name of the plugin, for the log. */
  readonly plugin: string
}

export interface Owner {
  readonly user: AutoApiUser
  readonly tenant?: Tenant
}

/** Returns `undefined` if the owner is gone or in another organization. */
export async function findOwner(row: OwnedRow, { findUser, config, event, plugin }: FindOwnerOptions): Promise<Owner | undefined> {
  const user = await findUser(row.userId, { event, tenantId: row.organizationId })
  if (user === null || user === undefined) return undefined
  if (String(user.id) !== row.userId) {
    logError({ event }, `${plugin}: \`findUser\` returned a user with another id. It is refused.`, new TypeError('wrong user'))
    return undefined
  }
  const tenant = tenantOf(user, row, config)
  return tenant === 'left' ? undefined : { user, tenant }
}

/** Returns the organization of the row, or `'left'` if the owner is in another one now. */
function tenantOf(user: AutoApiUser, { organizationId }: OwnedRow, { multiTenancy }: AutoApiConfig): Tenant | undefined | 'left' {
  if (organizationId === null) return multiTenancy ? { id: null } : undefined
  const own = multiTenancy ? user[multiTenancy.userTenantField] : undefined
  if (own === undefined || own === null) return { id: organizationId }
  // The id keeps the type that the app uses, because rules can compare it with `===`.
  return String(own) === organizationId ? { id: own as string | number } : 'left'
}
