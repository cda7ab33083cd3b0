/** Reads the description of the API: what the caller can use, for generic pages and forms. */
import type { UseQueryReturnType } from '@tanstack/vue-query'
import { toValue, type MaybeRefOrGetter } from 'vue'
import type { ApiDescription, DescribedField, DescribedRelation, DescribedResource } from '../../shared/types/description'
import type { FieldName, RelationName, ResourceName } from '../../shared/types/resources'
import { useClient } from '../client'
import type { AutoApiError } from '../error'
import { toApiKey } from '../keys'
import { useApiQuery, type QueryOptions } from '../query'

/** The description of a registered resource. Fields and relations that the caller cannot use are missing. */
export type ResourceSchema<R extends ResourceName> = Omit<DescribedResource, 'fields' | 'relations'> & {
  readonly fields: { readonly [F in FieldName<R>]?: DescribedField }
  readonly relations: { readonly [N in RelationName<R>]?: DescribedRelation }
}

export type SchemaResult = UseQueryReturnType<ApiDescription, AutoApiError> & {
  /** Returns the description of a resource; `undefined` if the caller cannot use it, and until the response has arrived. */
  readonly resource: {
    <R extends ResourceName>(name: R): ResourceSchema<R> | undefined
    (name: string): DescribedResource | undefined
  }
}

/** Components that open one after the other share a description for a minute. A caller who signs in or out resets it. */
export const SHARED = { staleTime: 60_000 } as const

export type SchemaOptions = QueryOptions<ApiDescription> & {
  /** The resources to describe. @default all that the caller can use */
  readonly resources?: MaybeRefOrGetter<readonly string[]>
}

/**
 * Reads the resources, fields, relations, request bodies and limits that the caller can use.
 * @example
 * const { resource } = useAutoApiSchema()
 * // <th v-for="(field, name) in resource('posts')?.fields" :key="name">{{ field.label }}</th>
 */
export function useAutoApiSchema({ resources, ...options }: SchemaOptions = {}): SchemaResult {
  const client = useClient()
  const query = useApiQuery<ApiDescription, ApiDescription>(
    () => toApiKey('_schema', 'schema', resources === undefined ? {} : { query: { resources: [...toValue(resources)] } }),
    ([, , , { query }], signal) => client.call({ route: 'schema', query }, signal),
    options,
  )
  const resource = (name: string) => {
    const described = query.data.value?.resources ?? {}
    return Object.hasOwn(described, name) ? described[name] : undefined
  }
  return Object.assign(query, { resource: resource as SchemaResult['resource'] })
}
