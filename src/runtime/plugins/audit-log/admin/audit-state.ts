/** The filters of the audit log, which are in the URL. */
import { computed, reactive, watch } from 'vue'
import { useHydrated } from '../../../admin/model/hydration'
import { useRoute, useRouter } from '../../../admin/model/nuxt'
import { toIso } from './range'

export const FILTERS = ['resource', 'recordId', 'kind', 'userId', 'from', 'to'] as const
export type AuditFilters = Record<typeof FILTERS[number], string>

export function useAuditFilters() {
  const isHydrated = useHydrated()
  const route = useRoute()
  const router = useRouter()
  const inUrl = computed(() =>
    Object.fromEntries(FILTERS.map(name => [name, String([route.query[name] ?? ''].flat()[0] ?? '')])) as AuditFilters)
  const state = reactive<AuditFilters>({ ...inUrl.value })
  watch(inUrl, values => Object.assign(state, values))
  // A record belongs to the resource that was chosen with it.
  watch(() => state.resource, resource => void (state.recordId = inUrl.value.resource === resource ? inUrl.value.recordId : ''))

  let timer: ReturnType<typeof setTimeout> | undefined
  watch(state, (values) => {
    clearTimeout(timer)
    const query = Object.fromEntries(FILTERS.flatMap(name => values[name] === '' ? [] : [[name, values[name]]]))
    timer = setTimeout(() => void router.replace({ query }), 250)
  })

  return {
    state,
    used: computed(() => FILTERS.filter(name => state[name] !== '').length),
    clear: () => void Object.assign(state, Object.fromEntries(FILTERS.map(name => [name, '']))),
    /** The parameters of the request. */
    query: computed(() => {
      const { from, to, ...others } = inUrl.value
      const zone = isHydrated.value ? 'local' : 'UTC'
      const texts = { ...others, from: toIso(from, zone) ?? '', to: toIso(to, zone) ?? '' }
      return Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== ''))
    }),
  }
}
