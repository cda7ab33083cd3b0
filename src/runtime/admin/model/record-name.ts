/** The names of records that a value refers to by their key. */
import { computed, type ComputedRef } from 'vue'
import type { RecordId } from '../../shared/types/resources'
import { useAutoApiGet } from '../../app/index'
import { labelFields, labelOf } from './records'
import { useSchema } from './schema'

/**
 * Returns the name of a record; `undefined` while it loads, and if the caller cannot read the record.
 * @param resource the resource of the record. It stays the same for as long as the component lives
 * @param id `undefined` sends no request
 * @param label the field with the name, if it is not the usual one
 */
export function useRecordName(resource: string, id: () => RecordId | undefined, label?: string): ComputedRef<string | undefined> {
  const schema = useSchema()
  const described = computed(() => schema.find(resource))
  const { data } = useAutoApiGet(resource, () => described.value ? id() : undefined, () => ({
    fields: described.value ? [...new Set([...labelFields(described.value), ...label === undefined ? [] : [label]])] : [],
  }), { staleTime: 60_000, retry: false })
  return computed(() => {
    if (!data.value || !described.value) return undefined
    const text = label === undefined ? undefined : data.value[label]
    return typeof text === 'string' && text !== '' ? text : labelOf(described.value, data.value)
  })
}
