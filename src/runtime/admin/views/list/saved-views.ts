/** The views of a list that this browser keeps: a name, the query of the URL and the columns. */
import { computed, watch, type ComputedRef, type ShallowRef } from 'vue'
import type { ListColumns } from './columns'
import { useCookie, useRoute } from '../../model/nuxt'
import { isSameQuery, keptQuery, moveEntry, placeEntry, saveEntry } from '../../model/view-order'
import { isTexts, useStored } from './stored'

export interface SavedView {
  readonly name: string
  readonly query: Readonly<Record<string, string | string[]>>
  readonly columns: readonly string[]
}

export interface SavedViews {
  readonly all: Readonly<ShallowRef<readonly SavedView[]>>
  /** Whether the tabs are shown. The server knows only that there are views, so that the page does not move. */
  readonly hasTabs: ComputedRef<boolean>
  /** The view that the list shows; `undefined` for a list without filters, and for one that is not saved. */
  readonly active: ComputedRef<SavedView | undefined>
  readonly isAll: ComputedRef<boolean>
  /** Whether the list differs from every view. */
  readonly canSave: ComputedRef<boolean>
  /** Chooses the columns of a view. Its link opens it. */
  readonly choose: (view: SavedView) => void
  /** Saves the current list. A view with the same name is replaced. */
  readonly save: (name: string) => void
  readonly rename: (view: SavedView, name: string) => void
  readonly move: (view: SavedView, step: number) => void
  readonly place: (view: SavedView, index: number) => void
  /** @returns a function that restores it */
  readonly remove: (view: SavedView) => () => void
}

const NONE: readonly SavedView[] = []
const YEAR = 31_536_000

export function useSavedViews(resource: string, columns: ListColumns, home: string): SavedViews {
  const route = useRoute()
  const { value: all, isLoaded, set } = useStored(`${resource}:views`, NONE, parse)
  const store = (views: readonly SavedView[]) => set(views.length === 0 ? NONE : views)

  const hint = useCookie<unknown>(`auto-admin-${resource}-views`, { path: home || '/', maxAge: YEAR, sameSite: 'lax' })
  watch([isLoaded, all], () => {
    if (isLoaded.value) hint.value = all.value.length > 0 ? '1' : null
  })

  const current = computed(() => keptQuery(route.query))
  const active = computed(() => all.value.find(view => isSameQuery(view.query, current.value)))
  const isAll = computed(() => Object.keys(current.value).length === 0)
  const hasSameColumns = (view: SavedView) => view.columns.join() === columns.shown.value.join()
  return {
    all, active, isAll,
    hasTabs: computed(() => isLoaded.value ? all.value.length > 0 : Boolean(hint.value)),
    canSave: computed(() => isLoaded.value && (!isAll.value || !columns.isDefault.value)
      && !all.value.some(view => isSameQuery(view.query, current.value) && hasSameColumns(view))),
    choose: view => columns.choose(view.columns),
    save: name => store(saveEntry(all.value, { name, query: current.value, columns: [...columns.shown.value] })),
    rename: (view, name) =>
      store(all.value.filter(one => one === view || one.name !== name).map(one => one === view ? { ...one, name } : one)),
    move: (view, step) => store(moveEntry(all.value, view, step)),
    place: (view, index) => store(placeEntry(all.value, view, index)),
    remove(view) {
      const before = all.value
      store(before.filter(one => one !== view))
      return () => store(before)
    },
  }
}

/** Another version of the admin can have written something else. */
function parse(value: unknown): readonly SavedView[] | undefined {
  return Array.isArray(value) ? value.filter(isView) : undefined
}

function isView(value: unknown): value is SavedView {
  const { name, query, columns } = (value ?? {}) as Partial<Record<keyof SavedView, unknown>>
  return typeof name === 'string' && isTexts(columns) && typeof query === 'object' && query !== null
    && Object.values(query).every(one => typeof one === 'string' || isTexts(one))
}
