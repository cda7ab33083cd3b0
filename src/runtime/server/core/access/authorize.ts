/** Authorizes a caller: checks the permission of each operation, then the tenant. By default, every operation is refused. */
import type { Awaitable } from '../awaitable'
import { FALLBACKS, type Operation } from '../../../shared/operations'
import type { AutoApiContext, Permission } from '../../registration'
import type { Resource } from '../../schema/model'
import { forResource } from '../request/call'
import type { Call, Session } from '../request/session'
import { ApiError, refused } from '../error'
import { logError } from '../process/log'
import { traceAuthorize } from '../process/trace'
import { limitsOf, ownerSession, rolesOf, SUPER_ADMIN, type CredentialLimits } from '../request/limits'
import { assertTenant, hasTenantId, tenantScope } from './tenant'

/**
 * Checks the permission of each operation in order, then the tenant. A route calls this function before it parses
 * the request. A plan calls it again for each related resource. A promise only if code decides.
 * @throws 401 for an anonymous caller, 403 for a signed-in one, `TENANT_REQUIRED` for a tenant-scoped resource without a tenant.
 */
export function authorize(session: Session, resource: Resource, operations: readonly Operation[]): Awaitable<void> {
  return traceAuthorize(resource.name, operations, undefined, () => assertAll(session, resource, operations))
}

function assertAll(session: Session, resource: Resource, operations: readonly Operation[]): Awaitable<void> {
  for (let index = 0; index < operations.length; index++) {
    const allowed = can(session, resource, operations[index]!)
    if (typeof allowed !== 'boolean') return allowed.then((allowed) => {
      if (!allowed) throw refused(session.ctx)
      return assertAll(session, resource, operations.slice(index + 1))
    })
    if (!allowed) throw refused(session.ctx)
  }
  assertTenant(session, resource)
}

/**
 * Lets a caller pass who has the permission for one of the operations. The handler checks those that it performs.
 * @throws 401, 403
 */
export function authorizeAny(call: Call, operations: readonly Operation[]): Awaitable<void> {
  return traceAuthorize(call.resource.name, operations, undefined, async () => {
    for (const operation of operations) if (await can(call, call.resource, operation)) return assertTenant(call, call.resource)
    throw refused(call.ctx)
  })
}

/**
 * Whether the caller can use a route with these operations: one of several, or the single one as its gate decides. For descriptions of the
 * API, which must agree with the routes.
 */
export async function canUseRoute(call: Call, operations: readonly Operation[], gate = ''): Promise<boolean> {
  try {
    await (operations.length > 1 ? authorizeAny(call, operations) : authorizeGate(call, gate))
    return true
  }
  catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/**
 * Whether {@link authorize} would let the caller pass. A new row also needs a tenant to belong to, even if the caller can access the rows
 * of all tenants.
 */
export async function isAuthorized(session: Session, resource: Resource, operation: Operation): Promise<boolean> {
  if (tenantScope(session.ctx, resource) === 'none') return false
  if (operation === 'create' && !hasTenantId(session.ctx, resource)) return false
  return can(session, resource, operation)
}

/** Whether the caller has permission for the operation. The decision is cached for the request. A promise only if code decides. */
export function can(session: Session, resource: Resource, operation: Operation): Awaitable<boolean> {
  const key = `can:${resource.name}:${operation}`
  const known = session.memo.get(key) as boolean | undefined
  if (known !== undefined) return known
  const decided = decideOperation(session, resource, operation)
  return typeof decided === 'boolean' ? remember(session, key, decided) : decided.then(allowed => remember(session, key, allowed))
}

function remember({ memo }: Session, key: string, allowed: boolean): boolean {
  memo.set(key, allowed)
  return allowed
}

function decideOperation(session: Session, resource: Resource, operation: Operation): Awaitable<boolean> {
  // A resource without authorization refuses every request, the super-admin's included.
  if (!resource.auth || resource.disabled.has(operation)) return false
  const permission = findPermission(resource, operation)
  return decideByData(permission, session.ctx) ?? allows(session, permission, contextFor(session, resource, operation))
}

/** Decides a permission without code. `undefined` if code, or the limits of a credential, decide. */
function decideByData(permission: Permission | undefined, ctx: AutoApiContext): boolean | undefined {
  if (limitsOf(ctx)) return undefined
  if (isSuperAdmin(ctx)) return true
  if (permission === undefined) return false
  if (typeof permission === 'boolean') return permission
  return typeof permission === 'string' ? holds(ctx, permission) : undefined
}

const holds = ({ permissions, user }: AutoApiContext, permission: string) =>
  permissions.includes(permission) || rolesOf(user).includes(permission)

/** Decides an operation by its permission. `undefined` is an operation without a permission. */
async function allows(session: Session, permission: Permission | undefined, ctx: AutoApiContext): Promise<boolean> {
  const limits = limitsOf(ctx)
  if (limits?.excluded.has(ctx.resource)) return false
  if (limits?.scopes) return allowsScoped(session, permission, ctx, limits, limits.scopes)
  return isSuperAdmin(ctx) || (permission !== undefined && await decide(session, permission, ctx))
}

/**
 * The owner must have the operation, and a scope must name it: as `<resource>:<operation>`, or by the string that the permission requires.
 * Functions and evaluators also decide about the reduced caller.
 */
async function allowsScoped(
  session: Session, permission: Permission | undefined, ctx: AutoApiContext, limits: CredentialLimits, scopes: ReadonlySet<string>,
): Promise<boolean> {
  const owner = ownerSession(session, ctx, limits)
  const isNamed = scopes.has(`${ctx.resource}:${ctx.operation}`)
  if (Array.isArray(permission)) {
    for (const one of permission as readonly Permission[]) if (await allowsScoped(session, one, ctx, limits, scopes)) return true
    // A super-admin has every operation, even if nothing allows it.
    return isNamed && permission.length === 0 && isSuperAdmin(owner.ctx)
  }
  if (!await allows(owner, permission, owner.ctx)) return false
  if (typeof permission === 'string') return isNamed || scopes.has(permission)
  if (!isNamed || permission === undefined || typeof permission === 'boolean') return isNamed
  return decidePlain(session, permission, ctx)
}

/** `'*'` allows every operation, even if its permission is `false` or undeclared. No permission function or evaluator runs. */
const isSuperAdmin = ({ permissions }: AutoApiContext) => permissions.includes(SUPER_ADMIN)

function findPermission(resource: Resource, operation: Operation): Permission | undefined {
  for (let current: Operation | undefined = operation; current; current = FALLBACKS[current]) {
    const permission = resource.auth?.permissions?.[current]
    if (permission !== undefined) return permission
  }
  return undefined
}

/**
 * Authorizes a call through a named gate. The gate decides the operations it declares. The resource's permissions decide the others.
 * @param further operations of the request besides that of the context. The resource's permissions decide them.
 * @throws 401, 403
 */
export function authorizeGate(call: Call, gate: string, further: readonly Operation[] = []): Awaitable<void> {
  const { resource, ctx } = call
  const permission = resource.auth?.custom?.[gate]?.permissions?.[ctx.operation]
  if (permission === undefined || resource.disabled.has(ctx.operation)) return authorize(call, resource, [ctx.operation, ...further])
  return traceAuthorize(resource.name, [ctx.operation, ...further], gate, async () => {
    if (!await allows(call, permission, ctx)) throw refused(ctx)
    await assertAll(call, resource, further)
  })
}

/** Returns the context that the rules of a resource receive for an operation. All these rules receive the same object. */
export function contextFor({ ctx, memo }: Session, resource: Resource, operation: Operation): AutoApiContext {
  if (ctx.resource === resource.name && ctx.operation === operation) return ctx
  const key = `context:${resource.name}:${operation}`
  const known = memo.get(key) as AutoApiContext | undefined
  // Calls of one session share the memo but can have different contexts (see `forResource`). Only one that inherits from this context fits.
  if (known && Object.getPrototypeOf(known) === ctx) return known
  // The new context inherits from the request's context, so it also has the properties that a context extender or a hook adds later.
  const inner = Object.assign(Object.create(ctx) as AutoApiContext, { resource: resource.name, operation })
  memo.set(key, inner)
  return inner
}

/** Creates the call of an operation on a resource, with the context that its rules receive. */
export const callFor = (session: Session, resource: Resource, operation: Operation): Call =>
  forResource(session, resource, contextFor(session, resource, operation))

/**
 * Evaluates one permission value. An invalid value refuses the caller, and so does a function that throws.
 * Here, `false` also refuses a caller with `'*'`: a field rule `false` applies to every caller. For operations, `decideOperation` and
 * `authorizeGate` allow `'*'` before they call this function.
 */
export async function decide(session: Session, permission: Permission, ctx: AutoApiContext): Promise<boolean> {
  const limits = limitsOf(ctx)
  if (limits?.scopes) {
    const owner = ownerSession(session, ctx, limits)
    if (!await decidePlain(owner, permission, owner.ctx)) return false
  }
  return decidePlain(session, permission, ctx)
}

async function decidePlain(session: Session, permission: Permission, ctx: AutoApiContext): Promise<boolean> {
  if (typeof permission === 'boolean') return permission
  if (isSuperAdmin(ctx)) return true
  if (typeof permission === 'string') return holds(ctx, permission)
  if (typeof permission === 'function') return passes(permission, ctx)
  if (Array.isArray(permission)) {
    for (const one of permission as readonly Permission[]) if (await decidePlain(session, one, ctx)) return true
    return false
  }
  const object = permission as Readonly<Record<string, unknown>>
  if (typeof permission !== 'object' || permission === null) return false
  return passes(ctx => session.api.evaluators.find(({ claims }) => claims(object))?.evaluate(object, ctx), ctx)
}

async function passes(rule: (ctx: AutoApiContext) => unknown, ctx: AutoApiContext): Promise<boolean> {
  try {
    return Boolean(await rule(ctx))
  }
  catch (error) {
    logError(ctx, `A permission of \`${ctx.resource}\` (${ctx.operation}) threw; the request is refused.`, error)
    return false
  }
}
