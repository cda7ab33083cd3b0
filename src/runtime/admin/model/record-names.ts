/** The names of many records, such as those of a page of the audit log, with one request for each resource. */
import { computed } from 'vue'
import type { RecordId } from '../../shared/types/resources'
import { useAutoApiList } from '../../app/index'
import { useAdminContext } from './context'
import { namesOf, namesRequest } from './names'
import { useSchema } from './schema'

export interface RecordRef {
  readonly resource: string
  readonly id: RecordId
}

/** Returns the name of a record; `undefined` while it loads, and if the caller cannot read it. */
export type NameOf = (resource: string, id: RecordId) => string | undefined

/** The resources of records as text: the `key` of a component that calls {@link useRecordNames}. */
export const namedResources = (records: readonly RecordRef[]): string => [...new Set(records.map(({ resource }) => resource))].sort().join()

/**
 * Reads the names of records, also of those in the trash that the caller can see.
 * @param resources their resources, which stay the same for as long as the component lives
 */
export function useRecordNames(
  records: () => readonly RecordRef[], resources: readonly string[] = namedResources(records()).split(','),
): NameOf {
  const schema = useSchema()
  const { users } = useAdminContext().access.value
  const names = new Map(resources.flatMap((resource) => {
    const described = computed(() => schema.find(resource))
    if (!described.value) return []
    const label = users?.resource === resource ? users.label : undefined
    const request = computed(() => {
      const ids = records().flatMap(one => one.resource === resource ? [one.id] : [])
      return described.value && namesRequest(described.value, ids, schema.limits.value?.pagination.maxLimit, label)
    })
    const { data } = useAutoApiList(resource, () => request.value ?? {}, {
      enabled: () => request.value !== undefined, staleTime: 60_000, retry: false,
    })
    return [[resource, computed(() => namesOf(described.value!, data.value?.data ?? [], label))] as const]
  }))
  return (resource, id) => names.get(resource)?.value.get(String(id))
}
