/** The selected records of a list, with their names. The selection lasts while the page or the filters change. */
import { shallowRef, type ShallowRef } from 'vue'
import type { RecordId } from '../../../shared/types/resources'

export interface Named { readonly id: RecordId, readonly label: string }

export interface Selection {
  readonly selected: Readonly<ShallowRef<ReadonlyMap<RecordId, string>>>
  readonly toggle: (id: RecordId, label: string) => void
  readonly toggleAll: (isSelected: boolean, shown: readonly Named[]) => void
  /** After the records were deleted. */
  readonly drop: (ids: readonly RecordId[]) => void
  readonly clear: () => void
}

export function useSelection(): Selection {
  const selected = shallowRef<ReadonlyMap<RecordId, string>>(new Map())
  const change = (edit: (next: Map<RecordId, string>) => void) => {
    const next = new Map(selected.value)
    edit(next)
    selected.value = next
  }
  return {
    selected,
    toggle: (id, label) => change(next => next.delete(id) || next.set(id, label)),
    toggleAll: (isSelected, shown) => change((next) => {
      for (const { id, label } of shown) {
        if (isSelected) next.set(id, label)
        else next.delete(id)
      }
    }),
    drop: ids => change(next => ids.forEach(id => next.delete(id))),
    clear: () => void (selected.value = new Map()),
  }
}
