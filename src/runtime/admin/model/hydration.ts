/** Whether the browser has taken over the page that the server has rendered. */
import { onMounted, ref, type Ref } from 'vue'
import { useNuxtApp } from './nuxt'

/**
 * `false` on the server and until the whole page is hydrated, `true` after that. A page that opens in the browser has it `true` at once.
 * What only the browser knows, such as its time zone, can be shown from then on.
 */
export function useHydrated(): Readonly<Ref<boolean>> {
  const isHydrated = ref(import.meta.client && !useNuxtApp().isHydrating)
  onMounted(() => void (isHydrated.value = true))
  return isHydrated
}
