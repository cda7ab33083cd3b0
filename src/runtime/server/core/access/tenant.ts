/** The tenant of a request. Without one, a tenant-scoped resource has no rows. */
import { INVALID } from '../../../shared/wire'
import type { AutoApiContext } from '../../registration'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import { createLruCache } from '../../engines/lru-cache'
import { isTenantId, type Call, type Session } from '../request/session'
import { tenantRequired } from '../error'
import { memoized } from '../memoized'

/** The rows of one tenant, of all tenants, or none. */
export type TenantScope = { readonly all: true } | { readonly all: false, readonly id: unknown } | 'none'

export function tenantScope(ctx: AutoApiContext, resource: Resource): TenantScope {
  if (!resource.tenant || ctx.tenant?.canAccessAllTenants === true) return { all: true }
  const id = tenantId(ctx, resource)
  return id === undefined ? 'none' : { all: false, id }
}

/** @throws `TENANT_REQUIRED` (403, anonymous 401) for a request without a tenant on a tenant-scoped resource. */
export function assertTenant({ ctx }: Session, resource: Resource): void {
  if (tenantScope(ctx, resource) === 'none') throw tenantRequired(ctx)
}

/** Whether the request has the tenant id that a new row needs. A resource without tenants needs none. */
export function hasTenantId(ctx: AutoApiContext, resource: Resource): boolean {
  return !resource.tenant || tenantId(ctx, resource) !== undefined
}

/**
 * Returns the tenant id for a new row, as the column stores it.
 * @throws `TENANT_REQUIRED` for a caller without a tenant, even if the caller can access all tenants.
 */
export function requireTenantId(call: Call, resource: Resource = call.resource): unknown {
  const id = tenantId(call.ctx, resource)
  if (id === undefined) throw tenantRequired(call.ctx)
  return id
}

/** Returns `undefined` if there is no id, or if the id does not fit the column, such as `acme` in a numeric column. */
function tenantId({ tenant }: AutoApiContext, { tenant: field }: Resource): unknown {
  if (!field || !isTenantId(tenant?.id)) return undefined
  return toTenantId(field, String(tenant.id))
}

/** The ids of each tenant column by their text. A request needs its id several times. */
const tenantIds = memoized((_: Field) => createLruCache<Converted>(MAX_TENANTS))
/** A server of more tenants than this converts some ids again. */
const MAX_TENANTS = 1000
/** Longer ids are converted again each time, so that a client that chooses the id cannot fill the memory. */
const MAX_LENGTH = 100

/** A scalar, as the column stores it. An id that does not fit the column has none. */
interface Converted {
  readonly value: unknown
}

function toTenantId(field: Field, text: string): unknown {
  if (text.length > MAX_LENGTH) return convert(field, text)
  return tenantIds(field)(text, () => ({ value: convert(field, text) })).value
}

function convert(field: Field, text: string): unknown {
  const value = field.fromText(text)
  return value === INVALID ? undefined : value
}
