/** The permission routes: what the caller can do, decided by the code that enforces it. */
import { LIMITS } from '../../shared/limits'
import type { Operation } from '../../shared/operations'
import type { Resource } from '../schema/model'
import type { Api } from './api'
import { forResource, type ApiRequest, type Call } from './context'
import { limitExceeded } from './error'
import { loadVisible } from './execute/write/visible'
import { refusedFields } from './access/fields'
import { inContext, isAuthorized } from './access/authorize'
import { decode, toKey } from '../schema/record-id'
import type { ApiResponse } from './response'
import { tenantScope } from './access/tenant'
import { allowEveryone, runRoute } from './pipeline'

export interface Capabilities {
  readonly canRead: boolean
  readonly canCreate: boolean
  readonly canUpdate: boolean
  readonly canDelete: boolean
  readonly canAggregate: boolean
  readonly canRestore: boolean
  readonly canPurge: boolean
  readonly canViewDeleted: boolean
  /** Only fields that have a rule. */
  readonly fields: Readonly<Record<string, { readonly canRead: boolean, readonly canWrite: boolean }>>
}

const OPERATION: Readonly<Record<Exclude<keyof Capabilities, 'fields'>, Operation>> = {
  canRead: 'read', canCreate: 'create', canUpdate: 'update', canDelete: 'delete',
  canAggregate: 'aggregate', canRestore: 'restore', canPurge: 'purge', canViewDeleted: 'viewDeleted',
}

const OF_TRASH = new Set<Operation>(['restore', 'purge', 'viewDeleted'])

/** `GET /permissions` */
export function allPermissions(request: ApiRequest, api: Api): Promise<ApiResponse> {
  return runRoute(api, request, undefined, { operations: ['read'], authorize: allowEveryone, run: async (session) => {
    const permissions: Record<string, Capabilities> = {}
    for (const resource of api.resources.values()) {
      permissions[resource.name] = await capabilities(forResource(session, resource, inContext(session, resource, 'read')))
    }
    return { status: 200, body: { permissions } }
  } })
}

/** `GET /:resource/permissions`, with `?ids=` for some of its records. */
export function resourcePermissions(request: ApiRequest, api: Api): Promise<ApiResponse> {
  const resource = api.resources.get(request.resource)!
  return runRoute(api, request, resource, { operations: ['read'], authorize: allowEveryone, run: async (call) => {
    const own = await capabilities(call)
    const { ids } = request.query
    return { status: 200, body: ids === undefined ? own : { ...own, records: await recordPermissions(toIds(ids), call) } }
  } })
}

async function capabilities(call: Call): Promise<Capabilities> {
  const { resource } = call
  const allowed: Record<string, boolean> = {}
  for (const [name, operation] of Object.entries(OPERATION)) {
    const exists = !OF_TRASH.has(operation) || resource.roles.deletedAt !== undefined
    allowed[name] = exists && await isAuthorized(call, resource, operation)
  }
  return { ...allowed, fields: await fieldCapabilities(call) } as unknown as Capabilities
}

async function fieldCapabilities(call: Call): Promise<Capabilities['fields']> {
  const { resource } = call
  const hasRows = tenantScope(call.ctx, resource) !== 'none'
  const as = (operation: Operation) => forResource(call, resource, inContext(call, resource, operation))
  const [unreadable, unwritable] = [await refusedFields(as('read'), resource, 'read'), await refusedFields(as('update'), resource, 'write')]
  const ruled = Object.entries(resource.auth?.fields ?? {}).filter(
    ([name, rule]) => !resource.hidden.has(name) && (rule?.read !== undefined || rule?.write !== undefined),
  )
  return Object.fromEntries(ruled.map(([name]) => [name, {
    canRead: hasRows && !unreadable.has(name),
    canWrite: hasRows && !unwritable.has(name) && (resource.writable.create.has(name) || resource.writable.update.has(name)),
  }]))
}

/** A repeated `ids` has one id per value. A single `ids` is a comma list, in which a comma of an id is percent-encoded twice. */
function toIds(ids: string | string[]): readonly string[] {
  const list = Array.isArray(ids) ? ids : ids.split(',').filter(id => id !== '').map(id => decode(id) ?? id)
  if (list.length > LIMITS.in) throw limitExceeded(`\`ids\` holds more than ${LIMITS.in} entries.`, 'ids')
  return list
}

const ON_RECORDS = { canRead: 'read', canUpdate: 'update', canDelete: 'delete' } as const

type RecordCapabilities = Readonly<Record<keyof typeof ON_RECORDS, boolean>>

/** Three statements, however many ids: the rows visible for reading, for updating and for deleting. */
async function recordPermissions(ids: readonly string[], call: Call): Promise<Readonly<Record<string, RecordCapabilities>>> {
  const { resource } = call
  const found = new Map<string, Set<string>>()
  for (const [name, operation] of Object.entries(ON_RECORDS)) {
    const as = forResource(call, resource, inContext(call, resource, operation))
    found.set(name, await isAuthorized(as, resource, operation) ? await visibleIds(ids, resource, operation, as) : new Set())
  }
  return Object.fromEntries(
    ids.map(id => [id, Object.fromEntries(Object.keys(ON_RECORDS).map(name => [name, found.get(name)!.has(id)])) as RecordCapabilities]),
  )
}

async function visibleIds(ids: readonly string[], resource: Resource, operation: Operation, call: Call): Promise<Set<string>> {
  const named = ids.flatMap((id) => {
    const key = toKey(resource, id)
    return key ? [{ id, key }] : []
  })
  const { targets } = await loadVisible(call, resource, named.map(({ key }) => key), operation)
  return new Set(named.filter((_, index) => targets[index]!.error === undefined).map(({ id }) => id))
}
