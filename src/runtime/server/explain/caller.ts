/** Describes who sends a request. */
import type { ExplainedCaller } from '../../shared/explanation'
import { limitsOf, rolesOf } from '../core/request/limits'
import type { Session } from '../core/request/session'

export function callerOf(session: Session): ExplainedCaller {
  const { user, permissions, tenant } = session.ctx
  const roles = [...new Set(rolesOf(user).filter(role => typeof role === 'string'))]
  const scopes = limitsOf(session.ctx)?.scopes
  return {
    signedIn: user !== null, ...user?.id !== undefined && { id: user.id }, roles, permissions,
    ...tenant && { tenant: tenant.id }, ...scopes && { scopes: [...scopes] },
  }
}
