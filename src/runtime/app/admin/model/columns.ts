/** The columns of a list, which the browser keeps, and what a request needs to show them. */
import { computed, type ComputedRef } from 'vue'
import type { Query } from './api'
import type { AdminView } from './context'
import { defaultColumns, labelFields } from './records'
import { isTexts, useStored } from './stored'

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

const NONE: string[] = []

export function useListColumns(resource: string, { described, options, schema }: AdminView): ListColumns {
  const kept = useStored<string[]>(`${resource}:columns`, NONE, value => isTexts(value) ? value : undefined)
  const all = computed(() => Object.keys(described.value.fields).filter(name => described.value.fields[name]!.readable))
  const defaults = computed(() => defaultColumns(described.value, options.value.columns))
  const shown = computed(() => {
    const chosen = kept.value.value.filter(name => all.value.includes(name))
    return chosen.length > 0 ? chosen : defaults.value
  })
  return {
    shown, all,
    isDefault: computed(() => shown.value.join() === defaults.value.join()),
    // A new column appears where the table has it.
    toggle: (name) => {
      const next = shown.value.includes(name) ? shown.value.filter(one => one !== name) : [...shown.value, name]
      if (next.length > 0) kept.set(next)
    },
    reset: () => kept.set(NONE),
    choose: names => kept.set([...names]),
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
