/** The columns of a list, which a cookie keeps, and what a request needs to show them. */
import { computed, type ComputedRef } from 'vue'
import type { Query } from '../../../app/any-resource'
import { columnsOf, countedBy, firstColumns } from '../../model/columns'
import type { AdminView } from '../../model/context'
import { useCookie } from '../../model/nuxt'
import { labelFields } from '../../model/records'
import { includeNames } from '../../model/related'
import { isTexts } from './stored'

export interface ListColumns {
  readonly shown: ComputedRef<string[]>
  /** The fields that the caller can read. */
  readonly fields: ComputedRef<string[]>
  /** The numbers of related records, such as `comments.$count`. */
  readonly counts: ComputedRef<string[]>
  readonly isDefault: ComputedRef<boolean>
  readonly toggle: (name: string) => void
  readonly reset: () => void
  readonly choose: (names: readonly string[]) => void
  /** The columns, the key, the name of each record and of the records that it points to: `fields`, `include` and `counts`. */
  readonly query: ComputedRef<Query>
}

const YEAR = 31_536_000

export function useListColumns(resource: string, { described, options, paths, schema }: AdminView): ListColumns {
  // The server receives it with the page, so that the table has these columns from the start. The API does not receive it.
  const kept = useCookie<unknown>(`auto-admin-${resource}-columns`, { path: paths.home || '/', maxAge: YEAR, sameSite: 'lax' })
  const columns = computed(() => columnsOf(described.value))
  const isField = (name: string) => countedBy(described.value, name) === undefined
  const fields = computed(() => Object.keys(columns.value).filter(isField))
  const counts = computed(() => Object.keys(columns.value).filter(name => !isField(name)))
  const defaults = computed(() => firstColumns(described.value, options.value.columns))
  const shown = computed(() => {
    const chosen = isTexts(kept.value) ? kept.value.filter(name => Object.hasOwn(columns.value, name)) : []
    return chosen.length > 0 ? chosen : defaults.value
  })
  return {
    shown, fields, counts,
    isDefault: computed(() => shown.value.join() === defaults.value.join()),
    // A new column appears where the table has it.
    toggle: (name) => {
      const next = shown.value.includes(name) ? shown.value.filter(one => one !== name) : [...shown.value, name]
      if (next.length > 0) kept.value = next
    },
    reset: () => void (kept.value = null),
    choose: names => void (kept.value = [...names]),
    query: computed(() => {
      const most = schema.limits.value?.include.maxIncludes ?? 0
      const include = includeNames(shown.value.map(name => columns.value[name]!), schema)
      const included = Object.keys(include).length
      const counted = shown.value.flatMap(name => countedBy(described.value, name) ?? []).slice(0, most - included)
      return {
        fields: [...new Set([...labelFields(described.value), ...shown.value.filter(isField)])],
        ...included > 0 && { include },
        ...counted.length > 0 && { counts: counted },
      }
    }),
  }
}
