/** Finds records of several resources by a part of their names. */
import { computed, onBeforeUnmount, ref, watch, type ComputedRef, type Ref } from 'vue'
import { useAutoApiList } from '../../app/index'
import { useAdminContext } from '../model/context'
import { escape, searchableFields } from '../model/filters'
import { listedResources, type NavEntry } from '../model/navigation'
import { useRoute } from '../model/nuxt'
import { idOfRow, labelFields, labelOf, titleField } from '../model/records'
import { useSchema } from '../model/schema'

export interface FoundRecords { readonly id: string, readonly label: string, readonly entries: readonly NavEntry[] }

/** Each resource is a request. */
const MOST_RESOURCES = 4
const MOST_RECORDS = 5
const SHORTEST = 2

/** @param text what a person types. It is searched once the typing pauses */
export function useRecordSearch(text: Readonly<Ref<string>>): {
  readonly groups: ComputedRef<FoundRecords[]>
  readonly isSearching: ComputedRef<boolean>
} {
  const schema = useSchema()
  const route = useRoute()
  const { access, paths } = useAdminContext()

  const searched = ref('')
  let timer: ReturnType<typeof setTimeout> | undefined
  watch(text, (value) => {
    clearTimeout(timer)
    timer = setTimeout(() => void (searched.value = value.trim()), 200)
  })
  onBeforeUnmount(() => clearTimeout(timer))
  const isLong = computed(() => searched.value.length >= SHORTEST)

  /** The resource of the page comes first. */
  const isHere = (name: string) => route.path === paths.list(name) || route.path.startsWith(`${paths.list(name)}/`)
  const searches = listedResources(access.value.resources).flatMap(([name, { label, icon = 'i-lucide-table-2' }]) => {
    const described = schema.find(name)
    const title = described?.capabilities.canRead ? titleField(described) : undefined
    if (!described || title === undefined || described.primaryKey.length === 0) return []
    return searchableFields(described, title, 1)[0] === title ? [{ name, label, icon, described, title }] : []
  }).sort((a, b) => Number(isHere(b.name)) - Number(isHere(a.name))).slice(0, MOST_RESOURCES).map((found) => {
    const { data, isFetching } = useAutoApiList(found.name, () => ({
      filter: { [found.title]: { $like: `%${escape(searched.value)}%` } },
      fields: labelFields(found.described),
      page: 1,
      limit: MOST_RECORDS,
    }), { enabled: isLong, retry: false, staleTime: 30_000 })
    return { ...found, data, isFetching }
  })

  return {
    isSearching: computed(() => (text.value.trim() !== searched.value && text.value.trim().length >= SHORTEST)
      || searches.some(({ isFetching }) => isFetching.value)),
    groups: computed(() => searches.flatMap(({ name, label, icon, described, data }) => {
      const entries = (isLong.value ? data.value?.data ?? [] : []).flatMap((row) => {
        const id = idOfRow(described, row)
        return id === undefined ? [] : [{ label: labelOf(described, row), icon, to: paths.record(name, id) }]
      })
      return entries.length > 0 ? [{ id: name, label, entries }] : []
    })),
  }
}
