/** What a caller may do, told by the code that enforces it: every answer here is asked of the gate, the fields and the scope. */
import { LIMITS } from '../../shared/limits'
import type { Operation } from '../../shared/operations'
import type { Resource } from '../schema/model'
import { forResource, openContext, toCall, type Api, type ApiRequest, type Call } from './context'
import { limitExceeded } from './error'
import { loadTargets } from './execute/write/targets'
import { toItems } from './execute/write/items'
import { keyFields, refusedFields } from './access/fields'
import { inContext, can } from './access/authorize'
import { decode, toKey } from '../schema/record-id'
import type { WritePlan } from './plan/write'
import type { ApiResponse } from './response'
import { applyScope } from './access/row-scope'
import { requireTenantId, tenantScope } from './access/tenant'

export interface Capabilities {
  readonly canRead: boolean
  readonly canCreate: boolean
  readonly canUpdate: boolean
  readonly canDelete: boolean
  readonly canAggregate: boolean
  readonly canRestore: boolean
  readonly canPurge: boolean
  readonly canViewDeleted: boolean
  /** The fields that have a rule. */
  readonly fields: Readonly<Record<string, { readonly canRead: boolean, readonly canWrite: boolean }>>
}

const OPERATION: Readonly<Record<Exclude<keyof Capabilities, 'fields'>, Operation>> = {
  canRead: 'read', canCreate: 'create', canUpdate: 'update', canDelete: 'delete',
  canAggregate: 'aggregate', canRestore: 'restore', canPurge: 'purge', canViewDeleted: 'viewDeleted',
}

const OF_TRASH = new Set<Operation>(['restore', 'purge', 'viewDeleted'])

/** `GET /permissions` */
export async function allPermissions(request: ApiRequest, api: Api): Promise<ApiResponse> {
  const ctx = await openContext(api, request, '', 'read')
  const permissions: Record<string, Capabilities> = {}
  for (const resource of api.resources.values()) {
    const call = toCall(api, ctx, resource, request.engine)
    permissions[resource.name] = await capabilities(forResource(call, resource, inContext(call, resource, 'read')))
  }
  return { status: 200, body: { permissions } }
}

/** `GET /:resource/permissions`, with `?ids=` for some of its records. */
export async function resourcePermissions(request: ApiRequest, api: Api): Promise<ApiResponse> {
  const resource = api.resources.get(request.resource)!
  const call = toCall(api, await openContext(api, request, resource.name, 'read'), resource, request.engine)
  const own = await capabilities(call)
  const { ids } = request.query
  return { status: 200, body: ids === undefined ? own : { ...own, records: await recordPermissions(toIds(ids), call) } }
}

async function capabilities(call: Call): Promise<Capabilities> {
  const { resource } = call
  const open = tenantScope(call.ctx, resource) !== 'none'
  const allowed: Record<string, boolean> = {}
  for (const [name, operation] of Object.entries(OPERATION)) {
    const exists = !OF_TRASH.has(operation) || resource.roles.deletedAt !== undefined
    allowed[name] = open && exists && (operation !== 'create' || hasTenant(call)) && await can(call, resource, operation)
  }
  return { ...allowed, fields: await fieldCapabilities(call, open) } as unknown as Capabilities
}

/** A new row needs a tenant to belong to, of staff that sees all of them too. */
function hasTenant(call: Call): boolean {
  if (!call.resource.tenant) return true
  try {
    requireTenantId(call)
    return true
  }
  catch {
    return false
  }
}

async function fieldCapabilities(call: Call, open: boolean): Promise<Capabilities['fields']> {
  const { resource } = call
  const as = (operation: Operation) => forResource(call, resource, inContext(call, resource, operation))
  const [unreadable, unwritable] = [await refusedFields(as('read'), resource, 'read'), await refusedFields(as('update'), resource, 'write')]
  const ruled = Object.entries(resource.auth?.fields ?? {}).filter(
    ([name, rule]) => !resource.hidden.has(name) && (rule?.read !== undefined || rule?.write !== undefined),
  )
  return Object.fromEntries(ruled.map(([name]) => [name, {
    canRead: open && !unreadable.has(name),
    canWrite: open && !unwritable.has(name) && (resource.writable.create.has(name) || resource.writable.update.has(name)),
  }]))
}

/** One id per value where `ids` is repeated; a comma list otherwise, in which a comma of an id is encoded once more. */
function toIds(ids: string | string[]): readonly string[] {
  const list = Array.isArray(ids) ? ids : ids.split(',').filter(id => id !== '').map(id => decode(id) ?? id)
  if (list.length > LIMITS.in) throw limitExceeded(`\`ids\` holds more than ${LIMITS.in} entries.`, 'ids')
  return list
}

const ON_RECORDS = { canRead: 'read', canUpdate: 'update', canDelete: 'delete' } as const

type RecordCapabilities = Readonly<Record<keyof typeof ON_RECORDS, boolean>>

/** Three statements, however many ids: which of them are visible for reading, for updating, for deleting. */
async function recordPermissions(ids: readonly string[], call: Call): Promise<Readonly<Record<string, RecordCapabilities>>> {
  const { resource } = call
  const found = new Map<string, Set<string>>()
  for (const [name, operation] of Object.entries(ON_RECORDS)) {
    const as = forResource(call, resource, inContext(call, resource, operation))
    const allowed = tenantScope(call.ctx, resource) !== 'none' && await can(as, resource, operation)
    found.set(name, allowed ? await visibleIds(ids, resource, operation, as) : new Set())
  }
  return Object.fromEntries(
    ids.map(id => [id, Object.fromEntries(Object.keys(ON_RECORDS).map(name => [name, found.get(name)!.has(id)])) as RecordCapabilities]),
  )
}

async function visibleIds(ids: readonly string[], resource: Resource, operation: Operation, call: Call): Promise<Set<string>> {
  const items = ids.flatMap((id) => {
    const key = toKey(resource, id)
    return key ? [{ id, key }] : []
  })
  const plan: WritePlan = { resource, trash: 'active', kind: 'update', items, bulk: true, atomic: true, selection: keyFields(resource) }
  const scoped = await applyScope(call, plan, operation)
  const located = toItems(scoped, () => call.ctx)
  await loadTargets(scoped, located, call)
  return new Set(located.filter(item => item.error === undefined).map(item => String(item.id)))
}
