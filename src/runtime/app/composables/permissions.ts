/** Reads the caller's permissions, so that a page can show or hide controls. The server still checks every request. */
import type { UseQueryReturnType } from '@tanstack/vue-query'
import { toValue, type MaybeRefOrGetter } from 'vue'
import type { Operation } from '../../shared/operations'
import type { Capabilities, GlobalResponses, RecordCapabilities } from '../../shared/types/responses'
import type { FieldName, RecordId, ResourceName } from '../../shared/types/resources'
import { useClient } from '../client'
import type { AutoApiError } from '../error'
import { toApiKey } from '../keys'
import { loadWith, useApiQuery, type QueryOptions } from '../query'
import type { OnlyAtRunTime } from '../any-resource'

const flagOf = <O extends string>(operation: O) => `can${operation.charAt(0).toUpperCase()}${operation.slice(1)}` as `can${Capitalize<O>}`

type AllPermissions = GlobalResponses['permissions']

export type PermissionsResult<Field extends string> = UseQueryReturnType<Capabilities, AutoApiError> & {
  /** `false` until the response has arrived. */
  readonly can: (operation: Operation) => boolean
  /** Whether the caller can read or write a field of a record that they can access; `true` for a field without a rule. */
  readonly canField: (field: Field, access: 'read' | 'write') => boolean
}

export type AllPermissionsResult = UseQueryReturnType<AllPermissions, AutoApiError> & {
  /** `false` until the response has arrived. */
  readonly can: (resource: ResourceName, operation: Operation) => boolean
}

/**
 * Reads the caller's permissions on a resource: `{ canRead: true, canCreate: false, …, fields }`. Without an argument, it reads the
 * permissions on every resource.
 * @example
 * const { can } = useAutoApiPermissions('posts')
 * // <button v-if="can('create')">
 */
export function useAutoApiPermissions<R extends ResourceName>(
  resource: R, options?: QueryOptions<Capabilities>,
): PermissionsResult<FieldName<R>>
/** Reads the caller's permissions on a resource whose name is known only at run time. */
export function useAutoApiPermissions<N extends string, L extends OnlyAtRunTime<N>>(
  resource: N, options?: QueryOptions<Capabilities>, ...literal: L
): PermissionsResult<string>
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

/** Uses `permissions` as the resource name in the cache key. No resource can have this name. */
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

/** The permissions on a resource and on each record, by id. */
export type RecordPermissions = Capabilities & { records: Record<string, RecordCapabilities> }

export type RecordPermissionsResult = UseQueryReturnType<RecordPermissions, AutoApiError> & {
  /** `false` until the response has arrived, and for a record that the caller cannot see. */
  readonly can: (id: RecordId, operation: 'read' | 'update' | 'delete') => boolean
}

/**
 * Reads the caller's permissions on each of up to 500 records. It sends no request for an empty list.
 * @example
 * const { can } = useAutoApiRecordPermissions('posts', () => posts.value?.data.map(({ id }) => id) ?? [])
 * // <button v-if="can(post.id, 'update')">
 */
export function useAutoApiRecordPermissions<R extends ResourceName>(
  resource: R,
  ids: MaybeRefOrGetter<readonly RecordId[]>,
  options?: QueryOptions<RecordPermissions>,
): RecordPermissionsResult
/** Reads the caller's permissions on records of a resource whose name is known only at run time. */
export function useAutoApiRecordPermissions<N extends string, L extends OnlyAtRunTime<N>>(
  resource: N, ids: MaybeRefOrGetter<readonly RecordId[]>, options?: QueryOptions<RecordPermissions>, ...literal: L
): RecordPermissionsResult
export function useAutoApiRecordPermissions(
  resource: string, ids: MaybeRefOrGetter<readonly RecordId[]>, options?: QueryOptions<RecordPermissions>,
): RecordPermissionsResult {
  const key = () => {
    const texts = toValue(ids).map(String)
    return texts.length === 0 ? undefined : toApiKey(resource, 'permissions', { query: { ids: texts } })
  }
  const query = useApiQuery<RecordPermissions, RecordPermissions>(key, loadWith(useClient(), 'resource-permissions'), options)
  return Object.assign(query, {
    can: (id: RecordId, operation: 'read' | 'update' | 'delete') => query.data.value?.records[String(id)]?.[flagOf(operation)] ?? false,
  })
}
