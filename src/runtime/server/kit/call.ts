/** The request of a caller: its session, its permissions, its tenant and the fields that it can read. */
export { authorize, callFor, can, canUseRoute, contextFor, decide, isAuthorized } from '../core/access/authorize'
export type { Api } from '../core/api'
export type { CallerContext } from '../core/entries/call'
export { type CredentialLimits, limitsOf, rolesOf, SUPER_ADMIN } from '../core/request/limits'
export { isCredentialCaller } from '../core/request/lock-caller'
export { type Call, isTenantId, requireSession, type Session, SESSION, toPermissions } from '../core/request/session'
export type {
  AutoApiContext,
  AutoApiUser,
  ConditionalContext,
  Permission,
  ResourceHooks,
  ResourceRegistration,
  Tenant,
} from '../registration'
export { isStep } from '../core/request/step'
export { readableFields, refusedFields, type Selection } from '../core/access/fields'
