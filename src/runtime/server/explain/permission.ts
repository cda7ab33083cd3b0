/** Explains the permission of an operation: which value decided, what it requires, and what the caller has. */
import { FALLBACKS, type Operation } from '../../shared/operations'
import type { Decision } from '../../shared/explanation'
import { can, contextFor } from '../core/access/authorize'
import { tenantScope } from '../core/access/tenant'
import { limitsOf, ownerSession, rolesOf, SUPER_ADMIN } from '../core/request/limits'
import type { Session } from '../core/request/session'
import type { Permission } from '../registration'
import { describePermission } from '../schema/access-matrix'
import type { Resource } from '../schema/model'
import { withPlace, type Places } from './places'

/** Explains one operation on a resource, as `authorize` decides it. */
export async function explainPermission(session: Session, resource: Resource, operation: Operation, places: Places): Promise<Decision> {
  const passed = await can(session, resource, operation)
  return withPlace({ resource: resource.name, operation, passed, ...await explainValue(session, resource, operation, passed) }, places)
}

type Explained = Pick<Decision, 'kind' | 'rule' | 'requires' | 'text'>

async function explainValue(session: Session, resource: Resource, operation: Operation, passed: boolean): Promise<Explained> {
  const { name, auth } = resource
  if (!auth) return { kind: 'authorization', rule: name, text: `\`${name}\` has no authorization, so every request is refused.` }
  if (resource.disabled.has(operation)) return { kind: 'disabled', rule: name, text: `\`${name}\` disables \`${operation}\`.` }
  const byCredential = await explainCredential(session, resource, operation)
  if (byCredential) return byCredential
  const { permission, rule, text: origin } = findRule(resource, operation)
  if (session.ctx.permissions.includes(SUPER_ADMIN))
    return { kind: 'permission', rule, text: `The caller has the permission '*', which allows \`${operation}\` of \`${name}\`.` }
  if (permission === undefined) {
    const names = [operation, ...fallbacksOf(operation)].map(name => `\`${name}\``).join(' or ')
    return { kind: 'permission', rule, text: `\`${name}\` declares no permission for ${names}, so nobody has it.` }
  }
  const requires = describePermission(permission)
  const reason = typeof permission === 'function' ? ` ${await explainFunction(session, resource, operation, permission)}` : ''
  const text = `\`${rule}\`${origin} requires ${requires}, and ${passed ? 'passes' : 'refuses'} the caller.${reason}`
  return { kind: 'permission', rule, requires, text }
}

/** Explains the gate of an endpoint. @param passed what the gate has decided */
export function explainGate(resource: Resource, operation: Operation, gate: string, passed: boolean, places: Places): Decision {
  const rule = `${resource.name}.authorization.custom.${gate}.permissions.${operation}`
  const requires = describePermission(resource.auth!.custom![gate]!.permissions![operation]!)
  const text = `\`${rule}\` requires ${requires}, and ${passed ? 'passes' : 'refuses'} the caller.`
  return withPlace({ kind: 'gate', resource: resource.name, operation, rule, requires, passed, text }, places)
}

/** Explains whether the caller has the tenant that the resource needs. `undefined` if it needs none. */
export function explainTenant({ ctx }: Session, resource: Resource): Decision | undefined {
  if (!resource.tenant) return undefined
  const { name } = resource
  const scope = tenantScope(ctx, resource)
  const about = { kind: 'tenant', resource: name, rule: `multiTenancy: ${name}.${resource.tenant.name}`, passed: scope !== 'none' } as const
  if (scope === 'none')
    return { ...about, text: `\`${name}\` belongs to tenants, and the caller has none${ctx.tenant ? ' that fits its column' : ''}.` }
  return { ...about, text: `The caller sees \`${name}\` of ${scope.all ? 'all tenants' : `the tenant ${String(ctx.tenant?.id)}`}.` }
}

const fallbacksOf = (operation: Operation): Operation[] => {
  const next = FALLBACKS[operation]
  return next ? [next, ...fallbacksOf(next)] : []
}

interface Rule {
  readonly permission: Permission | undefined
  readonly rule: string
  /** Why this rule decides. */
  readonly text: string
}

function findRule({ name, auth }: Resource, operation: Operation): Rule {
  const found = [operation, ...fallbacksOf(operation)].find(current => auth?.permissions?.[current] !== undefined)
  if (found === undefined) return { permission: undefined, rule: `${name}.authorization.permissions`, text: '' }
  const text = found === operation ? '' : `, which also decides \`${operation}\`,`
  return { permission: auth!.permissions![found], rule: `${name}.authorization.permissions.${found}`, text }
}

/** A limited credential refuses what its owner may do. */
async function explainCredential(session: Session, resource: Resource, operation: Operation): Promise<Explained | undefined> {
  const limits = limitsOf(session.ctx)
  const { name } = resource
  if (limits?.excluded.has(name)) return { kind: 'credential', rule: 'except', text: `The credential cannot use \`${name}\`.` }
  if (!limits?.scopes || await can(session, resource, operation)) return undefined
  const owner = ownerSession(session, contextFor(session, resource, operation), limits)
  if (!await can(owner, resource, operation)) return undefined
  return {
    kind: 'credential',
    rule: 'scopes',
    text: `The owner of the credential has \`${operation}\` of \`${name}\`. Its scopes do not name it: ${[...limits.scopes].join(', ')}.`,
  }
}

async function explainFunction(session: Session, resource: Resource, operation: Operation, permission: Permission): Promise<string> {
  const ctx = contextFor(session, resource, operation)
  try {
    return `It returned ${JSON.stringify(await (permission as (ctx: unknown) => unknown)(ctx)) ?? 'undefined'}.`
  }
  catch (error) {
    return `It threw: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** What the caller has, for comparison with what rules require. */
export const rolesIn = ({ ctx }: Session): readonly string[] => rolesOf(ctx.user).filter(role => typeof role === 'string')
