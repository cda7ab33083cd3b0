/** What the caller may do: for buttons that are there only for those who may press them. The server decides again each time. */
import type { UseQueryReturnType } from '@tanstack/vue-query'
import { toValue, type MaybeRefOrGetter } from 'vue'
import type { Operation } from '../../shared/operations'
import type { Capabilities, GlobalResponses, RecordCapabilities } from '../../shared/types/responses'
import type { FieldName, RecordId, ResourceName } from '../../shared/types/resources'
import { useClient } from '../client'
import type { AutoApiError } from '../error'
import { toApiKey } from '../keys'
import { loadWith, useApiQuery, type QueryOptions } from '../query'

const flagOf = <O extends string>(operation: O) => `can${operation.charAt(0).toUpperCase()}${operation.slice(1)}` as `can${Capitalize<O>}`

type AllPermissions = GlobalResponses['permissions']

export type PermissionsResult<R extends ResourceName> = UseQueryReturnType<Capabilities, AutoApiError> & {
  /** False until the answer is there. */
  readonly can: (operation: Operation) => boolean
  /** Whether a field may be read or written where its record may; true of a field without a rule. */
  readonly canField: (field: FieldName<R>, access: 'read' | 'write') => boolean
}

export type AllPermissionsResult = UseQueryReturnType<AllPermissions, AutoApiError> & {
  /** False until the answer is there. */
  readonly can: (resource: ResourceName, operation: Operation) => boolean
}

/**
 * What the caller may do with a resource at all; without one, with each of them.
 * @example
 * const { can } = useAutoApiPermissions('posts')
 * // <button v-if="can('create')">
 */
export function useAutoApiPermissions<R extends ResourceName>(resource: R, options?: QueryOptions<Capabilities>): PermissionsResult<R>
export function useAutoApiPermissions(): AllPermissionsResult
export function useAutoApiPermissions(resource?: string, options?: QueryOptions<Capabilities>): unknown {
  if (resource === undefined) return useAllPermissions()
  const query = useApiQuery<Capabilities, Capabilities>(
    () => toApiKey(resource, 'permissions', {}),
    loadWith(useClient(), 'resource-permissions'),
    options,
  )
  return Object.assign(query, {
    can: (operation: Operation) => query.data.value?.[flagOf(operation)] ?? false,
    canField(field: string, access: 'read' | 'write') {
      const rule = query.data.value?.fields[field]
      return query.data.value !== undefined && (rule === undefined || (access === 'read' ? rule.canRead : rule.canWrite))
    },
  })
}

/** `permissions` is the name of no resource. */
function useAllPermissions(): AllPermissionsResult {
  const client = useClient()
  const query = useApiQuery<AllPermissions, AllPermissions>(
    () => toApiKey('permissions', 'permissions', {}),
    (_, signal) => client.call({ route: 'permissions' }, signal),
  )
  return Object.assign(query, {
    can: (resource: ResourceName, operation: Operation) => query.data.value?.permissions[resource]?.[flagOf(operation)] ?? false,
  })
}

/** Capabilities, and those of each record. */
export type RecordPermissions = Capabilities & { records: Record<string, RecordCapabilities> }

export type RecordPermissionsResult = UseQueryReturnType<RecordPermissions, AutoApiError> & {
  /** False until the answer is there, and for a record the caller cannot see. */
  readonly can: (id: RecordId, operation: 'read' | 'update' | 'delete') => boolean
}

/**
 * What the caller may do with each of some records; at most 500.
 * @example
 * const { can } = useAutoApiRecordPermissions('posts', () => posts.value?.data.map(({ id }) => id) ?? [])
 * // <button v-if="can(post.id, 'update')">
 */
export function useAutoApiRecordPermissions<R extends ResourceName>(
  resource: R,
  ids: MaybeRefOrGetter<readonly RecordId[]>,
  options?: QueryOptions<RecordPermissions>,
): RecordPermissionsResult {
  const key = () => {
    const known = toValue(ids).map(String)
    return known.length === 0 ? undefined : toApiKey(resource, 'permissions', { query: { ids: known } })
  }
  const query = useApiQuery<RecordPermissions, RecordPermissions>(key, loadWith(useClient(), 'resource-permissions'), options)
  return Object.assign(query, {
    can: (id: RecordId, operation: 'read' | 'update' | 'delete') => query.data.value?.records[String(id)]?.[flagOf(operation)] ?? false,
  })
}
