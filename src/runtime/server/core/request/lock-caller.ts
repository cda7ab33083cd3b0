/** Gives a context the caller of a credential, which nothing can change afterwards. */
import type { AutoApiContext, AutoApiUser } from '../../registration'
import { reduceCaller, setLimits } from './limits'
import { toPermissions } from './session'
import type { CredentialCaller } from '../extensions/credentials'

/** The contexts whose caller came by a credential. */
const locked = new WeakSet<object>()

/** Whether a credential decided the caller. If so, a context extender cannot set it. */
export function isCredentialCaller(ctx: object): boolean {
  return locked.has(ctx)
}

/**
 * Gives the context its caller, which nothing can change afterwards: an assignment has no effect. Extenders get a copy of the user until
 * `finish` is called, so that a change of the user itself has no effect either.
 */
export function lockCaller(ctx: AutoApiContext, caller: CredentialCaller): { readonly finish: () => void } {
  const { tenant, id, scopes = null, excludedResources = [] } = caller
  const owner = { user: caller.user, permissions: Object.freeze([...caller.permissions ?? toPermissions(caller.user.permissions)]) }
  const named = scopes && new Set(scopes)
  const { user, permissions } = named ? reduceCaller(owner, named) : owner
  if (named || excludedResources.length > 0)
    setLimits(ctx, { owner, excluded: new Set(excludedResources), ...named && { scopes: named } })
  let visible = copyData(user) as AutoApiUser
  const values = {
    user: () => visible,
    permissions: constant(Object.freeze(permissions)),
    credential: constant(Object.freeze({ ...id !== undefined && { id }, scopes: scopes && Object.freeze([...scopes]) })),
    tenant: constant(tenant && Object.freeze({ id: tenant.id, canAccessAllTenants: tenant.canAccessAllTenants === true })),
  }
  for (const [key, get] of Object.entries(values))
    Object.defineProperty(ctx, key, { get, set: () => {}, enumerable: true, configurable: false })
  locked.add(ctx)
  return { finish: () => void (visible = user) }
}

const constant = <T>(value: T) => () => value

/** Copies plain objects and lists. Instances of classes stay the same. */
function copyData(value: unknown, copies = new Map<unknown, unknown>()): unknown {
  if (typeof value !== 'object' || value === null) return value
  const known = copies.get(value)
  if (known !== undefined) return known
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    copies.set(value, copy)
    for (const entry of value) copy.push(copyData(entry, copies))
    return copy
  }
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype !== Object.prototype && prototype !== null) return value
  const copy = Object.create(prototype) as Record<string, unknown>
  copies.set(value, copy)
  for (const [key, entry] of Object.entries(value)) copy[key] = copyData(entry, copies)
  return copy
}
