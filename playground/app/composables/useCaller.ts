/** In whose name the requests are sent: kept in a cookie, so that the server renders what this caller sees. */
import { useQueryClient } from '@tanstack/vue-query'

export function useCaller() {
  return useCookie<string | null>('newsroom-caller', {
    default: () => null,
    decode: value => value && /^\d+$/.test(value) ? value : null,
    encode: value => value ?? '',
    sameSite: 'lax',
  })
}

/** Signs somebody else in: what was read in another's name is forgotten. */
export function useSwitchCaller() {
  const caller = useCaller()
  const queryClient = useQueryClient()
  return async (id: string | null) => {
    caller.value = id
    // The cookie is written with the next tick.
    await nextTick()
    await queryClient.resetQueries({ queryKey: ['auto-api'] })
  }
}
