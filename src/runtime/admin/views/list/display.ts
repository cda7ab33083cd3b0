/** How dense a list is, and how wide its columns are. Cookies keep both, so that the server renders the same table. */
import { computed, type ComputedRef } from 'vue'
import { useCookie } from '../../model/nuxt'
import { toWidths } from '../../model/widths'

export const DENSITIES = ['comfortable', 'compact'] as const

export type Density = typeof DENSITIES[number]

export interface ListDisplay {
  readonly density: ComputedRef<Density>
  readonly setDensity: (density: Density) => void
  /** The widths in pixels. Empty until a person has changed one: the browser then decides about all of them. */
  readonly widths: ComputedRef<Readonly<Record<string, number>>>
  readonly setWidths: (widths: Readonly<Record<string, number>>) => void
}

const YEAR = 31_536_000

export function useListDisplay(resource: string, home: string): ListDisplay {
  const options = { path: home || '/', maxAge: YEAR, sameSite: 'lax' } as const
  const density = useCookie<unknown>('auto-admin-density', options)
  const widths = useCookie<unknown>(`auto-admin-${resource}-widths`, options)
  return {
    density: computed(() => DENSITIES.find(name => name === density.value) ?? 'comfortable'),
    setDensity: name => void (density.value = name === 'comfortable' ? null : name),
    widths: computed(() => toWidths(widths.value)),
    setWidths: next => void (widths.value = Object.keys(next).length === 0 ? null : next),
  }
}
