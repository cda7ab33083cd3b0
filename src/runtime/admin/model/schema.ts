/** The description of every resource, which all views share. */
import { computed, type ComputedRef } from 'vue'
import type { ApiDescription, DescribedField, DescribedResource } from '../../shared/types/description'
import { SHARED, useAutoApiSchema } from '../../app/composables/schema'

export type { DescribedField, DescribedResource }

export interface Schema {
  readonly find: (name: string) => DescribedResource | undefined
  readonly limits: ComputedRef<ApiDescription['limits'] | undefined>
  readonly suspense: () => Promise<unknown>
}

export function useSchema(): Schema {
  const { resource, data, suspense } = useAutoApiSchema(SHARED)
  return { find: name => resource(name), limits: computed(() => data.value?.limits), suspense }
}
