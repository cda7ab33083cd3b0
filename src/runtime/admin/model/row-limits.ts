/** Which operations of the caller reach only some of the rows. */
import type { UseQueryReturnType } from '@tanstack/vue-query'
import type { AdminRows } from '../../shared/types/admin'
import { useClient } from '../../app/client'
import type { AutoApiError } from '../../app/error'
import { toApiKey } from '../../app/keys'
import { useApiQuery } from '../../app/query'

const PATH = '/_admin/rows'

export function useRowLimits(): UseQueryReturnType<AdminRows, AutoApiError> {
  const client = useClient()
  return useApiQuery<AdminRows, AdminRows>(
    () => toApiKey(PATH, 'feed', {}),
    (_key, signal) => client.send('GET', client.pathBelow(PATH), {}, undefined, signal),
    { retry: false },
  )
}
