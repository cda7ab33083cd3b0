/** Opens the session of a request: finds its caller, refuses writes from other sites, and runs the listeners of plugins. */
import type { Awaitable } from '../awaitable'
import type { AutoApiConfig } from '../../../shared/config'
import type { Operation } from '../../../shared/operations'
import type { AutoApiContext, Tenant } from '../../registration'
import { assertSameSite } from './csrf'
import type { Api } from '../api'
import { toIncoming, type ApiRequest } from './api-request'
import { createContext, createSession, isTenantId, toPermissions, type Session } from './session'
import { findCredentialCaller, type CredentialCaller } from '../extensions/credentials'
import type { ContextExtender, Writable } from '../extensions/extensions'
import type { IncomingRequest } from '../extensions/listeners'
import { lockCaller } from './lock-caller'
import { engineFor } from './replica-choice'

/**
 * Opens the session of a request. The caller comes from a credential that a plugin recognizes, otherwise from the event's context. Then the
 * extenders run, in the order in which they were added. A promise only if the app or a plugin has one of these.
 * @param operations all operations of the request; the first one becomes `ctx.operation`
 * @param isReadOnly whether the request only reads, so that it can read from a replica
 * @throws The error with which a plugin refuses the request, and `CROSS_SITE` for a write from another site, before any authorization.
 */
export function openSession(
  api: Api, request: ApiRequest, resource: string, operations: readonly [Operation, ...Operation[]], isReadOnly = false,
): Awaitable<Session> {
  const { listeners: { onRequest, onCaller }, credentials, extenders, config } = api
  if (onRequest.length > 0 || onCaller.length > 0 || credentials.length > 0 || extenders.length > 0)
    return openExtended(api, request, resource, operations, isReadOnly)
  assertSameSite(request, config)
  const ctx = createContext(request, resource, operations[0])
  ctx.tenant = resolveTenant(config, ctx, request.caller.tenantId)
  return createSession(api, ctx, engineFor(api, request, isReadOnly))
}

async function openExtended(
  api: Api, request: ApiRequest, resource: string, operations: readonly [Operation, ...Operation[]], isReadOnly: boolean,
): Promise<Session> {
  const { listeners: { onRequest, onCaller }, credentials, config } = api
  let created: IncomingRequest | undefined
  const incoming = () => created ??= toIncoming(request, resource, operations)
  for (const listen of onRequest) await listen(incoming())
  const accepted = credentials.length > 0 ? await findCredentialCaller(credentials, incoming()) : undefined
  // A browser adds cookies to a write from another site. A credential does not come by cookie.
  if (!accepted) assertSameSite(request, config)
  const ctx = createContext(request, resource, operations[0])
  if (accepted) await extendLocked(api, ctx, accepted)
  else await extendCaller(api, ctx, request.caller)
  for (const listen of onCaller) await listen(ctx, incoming())
  return createSession(api, ctx, engineFor(api, request, isReadOnly))
}

/** What sessions of one request share. */
type SessionBase = Pick<Session, 'api' | 'engine'> & { readonly ctx: Pick<AutoApiContext, 'event' | 'db'> }

/** Opens the session of another credential's caller in the same request, for rules that decide about that caller. */
export async function openSessionAs({ api, ctx: { event, db }, engine }: SessionBase, caller: CredentialCaller): Promise<Session> {
  const request = { event, db, method: 'GET', header: () => undefined, params: {}, query: {}, caller: { user: null } }
  const ctx = createContext(request, '', 'read')
  await extendLocked(api, ctx, caller)
  return createSession(api, ctx, engine)
}

/** Runs the extenders, which can set the caller. */
async function extendCaller(api: Api, ctx: Writable<AutoApiContext>, caller: ApiRequest['caller']): Promise<void> {
  let setByExtender = false
  for (const extend of api.extenders) {
    const before = ctx.permissions
    await extend(ctx as Parameters<ContextExtender>[0])
    ctx.user ??= null
    // Permissions that an extender sets are kept, even an empty list. Otherwise the permissions of the current user apply.
    setByExtender ||= ctx.permissions !== before
    ctx.permissions = toPermissions(setByExtender ? ctx.permissions : caller.permissions ?? ctx.user?.permissions)
  }
  ctx.tenant = resolveTenant(api.config, ctx, caller.tenantId)
}

/** Runs the extenders for a caller that came by a credential. They can only add other keys. The caller in the event has no effect. */
async function extendLocked(
  api: Api, ctx: Writable<AutoApiContext>, caller: CredentialCaller,
): Promise<void> {
  const { user, tenant } = caller
  const { finish } = lockCaller(ctx, { ...caller, tenant: resolveTenant(api.config, { user, tenant }, undefined) })
  for (const extend of api.extenders) await extend(ctx as Parameters<ContextExtender>[0])
  finish()
}

/** Uses the first source with a valid id; an empty string is not an id. The request's headers, query and body are never a source. */
function resolveTenant(
  { multiTenancy }: AutoApiConfig, ctx: Pick<AutoApiContext, 'user' | 'tenant'>, tenantId: unknown,
): Tenant | undefined {
  if (ctx.tenant) return ctx.tenant
  if (isTenantId(tenantId)) return { id: tenantId }
  const own = multiTenancy && ctx.user?.[multiTenancy.userTenantField]
  return isTenantId(own) ? { id: own } : undefined
}
