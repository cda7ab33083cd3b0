/** The permission routes. They report what the caller can do, with the same checks that authorize requests. */
import { LIMITS } from '../../../shared/limits'
import type { Operation } from '../../../shared/operations'
import type { Resource } from '../../schema/model'
import type { Api } from '../api'
import type { ApiRequest } from '../request/api-request'
import type { Call, Session } from '../request/session'
import { limitExceeded } from '../error'
import { loadVisible } from '../write/check-visible'
import { refusedFields } from '../access/fields'
import { callFor, isAuthorized } from '../access/authorize'
import { decode, toKey } from '../../schema/record-id'
import type { ApiResponse } from '../extensions/response'
import { tenantScope } from '../access/tenant'
import { PARAMETERS } from '../parse/parameters'
import { allowEveryone, handleRequest } from '../pipeline'

export interface Capabilities {
  readonly canRead: boolean
  readonly canCreate: boolean
  readonly canUpdate: boolean
  readonly canDelete: boolean
  readonly canAggregate: boolean
  readonly canRestore: boolean
  readonly canPurge: boolean
  readonly canViewDeleted: boolean
  /** Contains only fields that have a rule. */
  readonly fields: Readonly<Record<string, { readonly canRead: boolean, readonly canWrite: boolean }>>
}

const RESOURCE_OPERATIONS: Readonly<Record<Exclude<keyof Capabilities, 'fields'>, Operation>> = {
  canRead: 'read', canCreate: 'create', canUpdate: 'update', canDelete: 'delete',
  canAggregate: 'aggregate', canRestore: 'restore', canPurge: 'purge', canViewDeleted: 'viewDeleted',
}

const TRASH_OPERATIONS = new Set<Operation>(['restore', 'purge', 'viewDeleted'])

/** `GET /permissions` */
export function allPermissions(request: ApiRequest, api: Api): Promise<ApiResponse> {
  const parameters = () => PARAMETERS.permissions
  return handleRequest(api, request, undefined, { operations: ['read'], parameters, authorize: allowEveryone, run: async (session) => {
    const permissions: Record<string, Capabilities> = {}
    for (const resource of api.resources.values()) {
      permissions[resource.name] = await capabilities(callFor(session, resource, 'read'))
    }
    return { status: 200, body: { permissions } }
  } })
}

/** `GET /:resource/permissions`, with `?ids=` for some of its records. */
export function resourcePermissions(request: ApiRequest, api: Api): Promise<ApiResponse> {
  const resource = api.resources.get(request.resource)!
  const run = async (call: Call): Promise<ApiResponse> => {
    const forAllRows = await capabilities(call)
    const { ids } = request.query
    return { status: 200, body: ids === undefined ? forAllRows : { ...forAllRows, records: await recordPermissions(toIds(ids), call) } }
  }
  const parameters = () => PARAMETERS['resource-permissions']
  const name = 'resource-permissions'
  return handleRequest(api, request, resource, { name, operations: ['read'], parameters, authorize: allowEveryone, run })
}

async function capabilities(call: Call): Promise<Capabilities> {
  return { ...await operationCapabilities(call, call.resource), fields: await fieldCapabilities(call) }
}

export type OperationCapabilities = Omit<Capabilities, 'fields'>

/** Whether the caller can use each operation of a resource. A resource without a trash has no operations on it. */
export async function operationCapabilities(session: Session, resource: Resource): Promise<OperationCapabilities> {
  const allowed: Record<string, boolean> = {}
  for (const [name, operation] of Object.entries(RESOURCE_OPERATIONS)) {
    const exists = !TRASH_OPERATIONS.has(operation) || resource.roles.deletedAt !== undefined
    allowed[name] = exists && await isAuthorized(session, resource, operation)
  }
  return allowed as unknown as OperationCapabilities
}

async function fieldCapabilities(call: Call): Promise<Capabilities['fields']> {
  const { resource } = call
  const hasRows = tenantScope(call.ctx, resource) !== 'none'
  const unreadable = await refusedFields(callFor(call, resource, 'read'), resource, 'read')
  const unwritable = await refusedFields(callFor(call, resource, 'update'), resource, 'write')
  const fieldsWithRules = Object.entries(resource.auth?.fields ?? {}).filter(
    ([name, rule]) => !resource.hidden.has(name) && (rule?.read !== undefined || rule?.write !== undefined),
  )
  return Object.fromEntries(fieldsWithRules.map(([name]) => [name, {
    canRead: hasRows && !unreadable.has(name),
    canWrite: hasRows && !unwritable.has(name) && (resource.writable.create.has(name) || resource.writable.update.has(name)),
  }]))
}

/**
 * `?ids=1&ids=2` has one id per value. `?ids=1,2` is a list separated by commas. If an id in such a list contains a comma, the client
 * encodes that comma twice: the URL contains `%252C`, the query value `%2C`.
 */
function toIds(ids: string | string[]): readonly string[] {
  const list = Array.isArray(ids) ? ids : ids.split(',').filter(id => id !== '').map(id => decode(id) ?? id)
  if (list.length > LIMITS.in) throw limitExceeded(`\`ids\` holds more than ${LIMITS.in} entries.`, 'ids')
  return list
}

const RECORD_OPERATIONS = { canRead: 'read', canUpdate: 'update', canDelete: 'delete' } as const

type RecordCapabilities = Readonly<Record<keyof typeof RECORD_OPERATIONS, boolean>>

/** Runs one statement per operation for all ids together. The statement finds the rows that the caller can read, update or delete. */
async function recordPermissions(ids: readonly string[], call: Call): Promise<Readonly<Record<string, RecordCapabilities>>> {
  const { resource } = call
  const found = new Map<string, Set<string>>()
  for (const [name, operation] of Object.entries(RECORD_OPERATIONS)) {
    const callForOperation = callFor(call, resource, operation)
    const authorized = await isAuthorized(callForOperation, resource, operation)
    found.set(name, authorized ? await visibleIds(ids, resource, operation, callForOperation) : new Set())
  }
  const capabilitiesOf = (id: string) =>
    Object.fromEntries([...found].map(([name, visible]) => [name, visible.has(id)])) as RecordCapabilities
  return Object.fromEntries(ids.map(id => [id, capabilitiesOf(id)]))
}

async function visibleIds(ids: readonly string[], resource: Resource, operation: Operation, call: Call): Promise<Set<string>> {
  const validIds = ids.flatMap((id) => {
    const key = toKey(resource, id)
    return key ? [{ id, key }] : []
  })
  const { targets } = await loadVisible(call, resource, validIds.map(({ key }) => key), operation)
  return new Set(validIds.filter((_, index) => targets[index]!.error === undefined).map(({ id }) => id))
}
