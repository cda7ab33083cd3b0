/** Whether the table of a list is wider than its frame. */
import { onBeforeUnmount, onMounted, ref, type Ref } from 'vue'

/** @returns `undefined` until the browser has measured both */
export function useFit(frame: Readonly<Ref<HTMLElement | null>>): Readonly<Ref<boolean | undefined>> {
  const isWide = ref<boolean>()
  let observer: ResizeObserver | undefined
  onMounted(() => {
    const table = frame.value?.querySelector('table')
    if (!frame.value || !table) return
    const measure = () => void (isWide.value = table.offsetWidth > frame.value!.clientWidth + 1)
    observer = new ResizeObserver(measure)
    observer.observe(frame.value)
    observer.observe(table)
  })
  onBeforeUnmount(() => observer?.disconnect())
  return isWide
}
