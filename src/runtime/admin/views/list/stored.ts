/** Values that the browser keeps. The server does not know them, so the first render has the default. */
import { onMounted, ref, shallowRef, type Ref, type ShallowRef } from 'vue'

export interface Stored<T> {
  readonly value: Readonly<ShallowRef<T>>
  /** Whether the browser has been asked. */
  readonly isLoaded: Readonly<Ref<boolean>>
  readonly set: (value: T) => void
}

/** @param parse returns the value, or `undefined` if the browser holds something else */
export function useStored<T>(name: string, initial: T, parse: (value: unknown) => T | undefined): Stored<T> {
  const key = `auto-admin:${name}`
  const value = shallowRef(initial)
  const isLoaded = ref(false)
  onMounted(() => {
    try {
      const found = parse(JSON.parse(localStorage.getItem(key) ?? 'null'))
      if (found !== undefined) value.value = found
    }
    catch {
      // The browser has no storage, or holds text that is not JSON: the default stays.
    }
    isLoaded.value = true
  })
  return {
    value, isLoaded,
    set(next) {
      value.value = next
      try {
        if (next === initial) localStorage.removeItem(key)
        else localStorage.setItem(key, JSON.stringify(next))
      }
      catch {
        // A full or forbidden storage keeps the value for this page.
      }
    },
  }
}

export const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(one => typeof one === 'string')
