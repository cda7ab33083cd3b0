/** Loads what a view shows, when it is shown and again when that changes. */
import { onActivated, onBeforeUnmount, onDeactivated, ref, shallowRef, type Ref, type ShallowRef } from 'vue'

export interface Loaded<T> {
  readonly data: ShallowRef<T | undefined>
  /** The message of the last load, if it has failed. The data of the one before stays. */
  readonly error: Ref<string | undefined>
  readonly isLoading: Ref<boolean>
  readonly reload: () => Promise<void>
}

/** The newest load wins, whatever the order of the responses. */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const data = shallowRef<T>()
  const error = ref<string>()
  const isLoading = ref(false)
  let newest = 0
  async function reload() {
    const current = ++newest
    isLoading.value = true
    try {
      const loaded = await load()
      if (current !== newest) return
      data.value = loaded
      error.value = undefined
    }
    catch (reason) {
      if (current === newest) error.value = messageOf(reason)
    }
    finally {
      if (current === newest) isLoading.value = false
    }
  }
  return { data, error, isLoading, reload }
}

export const messageOf = (reason: unknown) => reason instanceof Error ? reason.message : String(reason)

/** Runs a function when the view is shown, and then at an interval while it and the page are visible. */
export function usePolling(run: () => Promise<void>, interval: number): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isShown = false
  async function poll() {
    clearTimeout(timer)
    timer = undefined
    if (!isShown || document.hidden) return
    await run()
    clearTimeout(timer)
    if (isShown) timer = setTimeout(poll, interval)
  }
  const start = () => {
    isShown = true
    void poll()
  }
  const stop = () => {
    isShown = false
    clearTimeout(timer)
  }
  document.addEventListener('visibilitychange', poll)
  onActivated(start)
  onDeactivated(stop)
  onBeforeUnmount(() => {
    stop()
    document.removeEventListener('visibilitychange', poll)
  })
}
