/** The caller of the requests, in a cookie, so that the server renders the page for this caller. */
import { useQueryClient } from '@tanstack/vue-query'

export function useCaller() {
  return useCookie<string | null>('newsroom-caller', {
    default: () => null,
    decode: value => value && /^\d+$/.test(value) ? value : null,
    encode: value => value ?? '',
    sameSite: 'lax',
  })
}

/** Switches the caller, and resets all queries of the previous caller. */
export function useSwitchCaller() {
  const caller = useCaller()
  const queryClient = useQueryClient()
  return async (id: string | null) => {
    caller.value = id
    // The cookie is written on the next tick.
    await nextTick()
    await queryClient.resetQueries({ queryKey: ['auto-api'] })
  }
}
