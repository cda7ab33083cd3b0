/** The record that is open beside a list. It is part of the URL, so the back button closes it. */
import { computed, ref, type ComputedRef } from 'vue'
import type { RecordId } from '../../../shared/types/resources'
import { useRoute, useRouter } from '../../model/nuxt'

export interface Opened {
  readonly id: ComputedRef<string | undefined>
  readonly open: (id: RecordId) => void
  readonly close: () => Promise<void>
}

export function useOpened(): Opened {
  const route = useRoute()
  const router = useRouter()
  const isPushed = ref(false)
  return {
    id: computed(() => [route.query.open ?? []].flat()[0] ?? undefined),
    open(id) {
      isPushed.value = true
      void router.push({ query: { ...route.query, open: String(id) } })
    },
    async close() {
      if (isPushed.value) router.back()
      else await router.replace({ query: { ...route.query, open: undefined } })
      isPushed.value = false
    },
  }
}
