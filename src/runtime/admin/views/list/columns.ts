/** The columns of a list, which a cookie keeps, and what a request needs to show them. */
import { computed, type ComputedRef } from 'vue'
import type { Query } from '../../../app/any-resource'
import type { AdminView } from '../../model/context'
import { useCookie } from '../../model/nuxt'
import { defaultColumns, labelFields } from '../../model/records'
import { isTexts } from './stored'

export interface ListColumns {
  readonly shown: ComputedRef<string[]>
  /** All columns that the caller can read. */
  readonly all: ComputedRef<string[]>
  readonly isDefault: ComputedRef<boolean>
  readonly toggle: (name: string) => void
  readonly reset: () => void
  readonly choose: (names: readonly string[]) => void
  /** The parameters `fields` and `include`: the columns, the key, the name of each record and of the records that it points to. */
  readonly query: ComputedRef<Query>
}

const YEAR = 31_536_000

export function useListColumns(resource: string, { described, options, paths, schema }: AdminView): ListColumns {
  // The server receives it with the page, so that the table has these columns from the start. The API does not receive it.
  const kept = useCookie<unknown>(`auto-admin-${resource}-columns`, { path: paths.home || '/', maxAge: YEAR, sameSite: 'lax' })
  const all = computed(() => Object.keys(described.value.fields).filter(name => described.value.fields[name]!.readable))
  const defaults = computed(() => defaultColumns(described.value, options.value.columns))
  const shown = computed(() => {
    const chosen = isTexts(kept.value) ? kept.value.filter(name => all.value.includes(name)) : []
    return chosen.length > 0 ? chosen : defaults.value
  })
  return {
    shown, all,
    isDefault: computed(() => shown.value.join() === defaults.value.join()),
    // A new column appears where the table has it.
    toggle: (name) => {
      const next = shown.value.includes(name) ? shown.value.filter(one => one !== name) : [...shown.value, name]
      if (next.length > 0) kept.value = next
    },
    reset: () => void (kept.value = null),
    choose: names => void (kept.value = [...names]),
    query: computed(() => {
      const { fields } = described.value
      const include = shown.value.flatMap((name) => {
        const { relation, resource: target = '' } = fields[name]!.references ?? {}
        const other = schema.find(target)
        return relation !== undefined && other && labelFields(other).length > 0 ? [[relation, { fields: labelFields(other) }] as const] : []
      }).slice(0, schema.limits.value?.include.maxIncludes ?? 0)
      return {
        fields: [...new Set([...labelFields(described.value), ...shown.value])],
        ...include.length > 0 && { include: Object.fromEntries(include) },
      }
    }),
  }
}
