/** The state of a list in the URL: sort, filters, search and page. Back and forward work, and a link shows the same list. */
import { computed, type ComputedRef } from 'vue'
import { columnsOf } from '../../model/columns'
import { readFilters, searchableFields, toFilter, toParameter, type Filter } from '../../model/filters'
import { useRoute, useRouter } from '../../model/nuxt'
import { titleField } from '../../model/records'
import type { Query } from '../../../app/any-resource'
import type { DescribedResource, Schema } from '../../model/schema'

export interface Sorting { readonly field: string, readonly descending: boolean }

export interface ListState {
  readonly sorting: ComputedRef<Sorting | undefined>
  readonly filters: ComputedRef<Filter[]>
  /** Whether a filter can have alternatives. */
  readonly hasGroups: ComputedRef<boolean>
  readonly search: ComputedRef<string>
  readonly page: ComputedRef<number>
  readonly limit: ComputedRef<number>
  /** The fields in which the search looks. Empty if the resource has no text to search. */
  readonly searchable: ComputedRef<string[]>
  /** Whether a search or a filter is active. */
  readonly isNarrowed: ComputedRef<boolean>
  /** The sort order, filters and search as the parameters of a request. */
  readonly query: ComputedRef<Query>
  /** The filter that a request of another list has, by the query of its URL. */
  readonly filterOf: (query: Values) => Query | undefined
  readonly isCursor: ComputedRef<boolean>
  readonly cursor: ComputedRef<string>
  /** `replace` keeps the history as it is, for text that is being typed. */
  readonly set: (changes: Changes, options?: { readonly replace?: boolean }) => void
}

export interface Changes {
  readonly sort?: Sorting | null
  readonly filters?: readonly Filter[]
  readonly search?: string
  readonly page?: number
  readonly cursor?: string
  readonly limit?: number
}

export const LIMITS = [20, 50, 100] as const

export function useListState(resource: ComputedRef<DescribedResource>, limits: Schema['limits']): ListState {
  const route = useRoute()
  const router = useRouter()
  const text = (name: string) => String([route.query[name] ?? ''].flat()[0] ?? '')

  const sorting = computed((): Sorting | undefined => {
    const descending = text('sort').startsWith('-')
    const field = text('sort').slice(descending ? 1 : 0)
    const { fields } = resource.value
    const columns = columnsOf(resource.value)
    if (Object.hasOwn(columns, field) && columns[field]!.sortable) return { field, descending }
    const created = Object.keys(fields).find(name => fields[name]!.role === 'createdAt' && fields[name]!.sortable)
    return created === undefined ? undefined : { field: created, descending: true }
  })
  const read = (values: unknown) => readFilters(values, resource.value, limits.value?.filter.extended === true)
  const filters = computed(() => read(route.query.filter))
  const search = computed(() => text('q'))
  const likes = () => Math.min(limits.value?.filter.likes ?? 1, 4)
  const searchable = computed(() => searchableFields(resource.value, titleField(resource.value), likes()))
  const maxLimit = computed(() => limits.value?.pagination.maxLimit ?? 20)

  return {
    sorting, filters, search, searchable,
    hasGroups: computed(() => limits.value?.filter.extended === true),
    page: computed(() => Math.max(1, Math.floor(Number(text('page'))) || 1)),
    limit: computed(() => Math.min(maxLimit.value, LIMITS.find(limit => String(limit) === text('limit')) ?? LIMITS[0])),
    isNarrowed: computed(() => filters.value.length > 0 || search.value !== ''),
    query: computed(() => ({
      ...sorting.value && { sort: `${sorting.value.descending ? '-' : ''}${sorting.value.field}` },
      filter: toFilter(filters.value, search.value, searchable.value, resource.value),
    })),
    filterOf: ({ filter, q }) => toFilter(read(filter), String(q ?? ''), searchable.value, resource.value),
    isCursor: computed(() => limits.value?.pagination.default === 'cursor'),
    cursor: computed(() => text('cursor')),
    set(changes, { replace = false } = {}) {
      const { sort, filters, search, page, cursor, limit } = changes
      void router[replace ? 'replace' : 'push']({
        query: compact({
          ...route.query,
          ...sort !== undefined && { sort: sort ? `${sort.descending ? '-' : ''}${sort.field}` : undefined },
          ...filters && { filter: filters.map(toParameter) },
          ...search !== undefined && { q: search },
          ...limit !== undefined && { limit: limit === LIMITS[0] ? undefined : String(limit) },
          // Another list begins with its first page.
          page: page !== undefined && page > 1 ? String(page) : undefined,
          cursor,
          open: undefined,
        }),
      })
    },
  }
}

export type Values = Readonly<Record<string, string | null | undefined | readonly (string | null)[]>>

const compact = (values: Values) => Object.fromEntries(Object.entries(values).flatMap(([name, value]) =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0) ? [] : [[name, value as string | string[]]]))
