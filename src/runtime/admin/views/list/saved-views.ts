/** The views of a list that this browser keeps: a name, the query of the URL and the columns. */
import type { ShallowRef } from 'vue'
import type { ListColumns } from './columns'
import { useRoute, useRouter } from '../../model/nuxt'
import { isTexts, useStored } from './stored'

export interface SavedView {
  readonly name: string
  readonly query: Readonly<Record<string, string | string[]>>
  readonly columns: readonly string[]
}

export interface SavedViews {
  readonly all: Readonly<ShallowRef<readonly SavedView[]>>
  /** Opens a view. `undefined` opens the list without filters. */
  readonly open: (view: SavedView | undefined) => void
  /** Saves the current list. A view with the same name is replaced. */
  readonly save: (name: string) => void
  readonly remove: (view: SavedView) => void
}

const NONE: readonly SavedView[] = []

export function useSavedViews(resource: string, columns: ListColumns): SavedViews {
  const route = useRoute()
  const router = useRouter()
  const { value: all, set } = useStored(`${resource}:views`, NONE, parse)
  return {
    all,
    open(view) {
      if (view) columns.choose(view.columns)
      void router.push({ query: { ...view?.query } })
    },
    save(name) {
      const query = Object.fromEntries(KEPT.flatMap((key) => {
        const value = route.query[key]
        return value ? [[key, Array.isArray(value) ? value.map(String) : value]] : []
      }))
      set([...all.value.filter(view => view.name !== name), { name, query, columns: [...columns.shown.value] }])
    },
    remove: view => set(all.value.length === 1 ? NONE : all.value.filter(one => one !== view)),
  }
}

/** The parameters that describe a list. A page number does not. */
const KEPT = ['sort', 'filter', 'q', 'limit'] as const

/** Another version of the admin can have written something else. */
function parse(value: unknown): readonly SavedView[] | undefined {
  return Array.isArray(value) ? value.filter(isView) : undefined
}

function isView(value: unknown): value is SavedView {
  const { name, query, columns } = (value ?? {}) as Partial<Record<keyof SavedView, unknown>>
  return typeof name === 'string' && isTexts(columns) && typeof query === 'object' && query !== null
    && Object.values(query).every(one => typeof one === 'string' || isTexts(one))
}
