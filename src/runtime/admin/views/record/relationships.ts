/** Reads the many-to-many relations of a resource that the caller can read. */
import type { UseQueryReturnType } from '@tanstack/vue-query'
import type { AutoApiError } from '../../../app/error'
import { useAutoApiEndpoint } from '../../../app/index'
import { prefix } from '../../../app/nuxt'
import type { GlobalResponses } from '../../../shared/types/responses'
import { prefetchInOrder } from '../../model/prefetch'

type Response<Route extends keyof GlobalResponses> = UseQueryReturnType<GlobalResponses[Route], AutoApiError>

/** Most resources are in no junction table and need no request of their own. */
export function useRelationships(resource: string): Response<'m2m-detect'> {
  const junctions = useAutoApiEndpoint(`${prefix}/_m2m/junctions`, { staleTime: 60_000 }) as Response<'m2m-junctions'>
  const relationships = useAutoApiEndpoint(`${prefix}/_m2m/detect/${encodeURIComponent(resource)}`, {
    enabled: () => junctions.data.value?.junctions.some(({ resources }) => resources.includes(resource)) ?? false,
    staleTime: 60_000,
  }) as Response<'m2m-detect'>
  prefetchInOrder(junctions, relationships)
  return relationships
}
