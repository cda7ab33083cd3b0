/** The current time, for dates such as "3 days ago". */
import { onMounted, type Ref } from 'vue'
import { useState } from './nuxt'

let timer: ReturnType<typeof setInterval> | undefined

/** The page contains the time of the server, so that the browser shows the same text when it hydrates. */
export function useNow(): Readonly<Ref<number>> {
  const now = useState('auto-admin:now', () => Date.now())
  onMounted(() => {
    timer ??= setInterval(() => void (now.value = Date.now()), 60_000)
  })
  return now
}
