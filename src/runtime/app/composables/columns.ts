/** The columns of a table and its sort order, from the description of the API. */
import { computed, ref, toValue, type ComputedRef, type MaybeRefOrGetter, type Ref } from 'vue'
import type { DescribedField } from '../../shared/types/description'
import type { SortKey } from '../../shared/types/query'
import type { FieldName, ResourceWith } from '../../shared/types/resources'
import type { OnlyAtRunTime } from '../any-resource'
import { SHARED, useAutoApiSchema } from './schema'

/** A column of TanStack Table, which `UTable` of Nuxt UI accepts too. */
export interface Column<Name extends string> {
  readonly id: Name
  readonly accessorKey: Name
  /** The label of the field. */
  readonly header: string
  /** Whether lists can be sorted by the field. */
  readonly enableSorting: boolean
  /** The description of the field: kind, enum, nullable and so on. */
  readonly field: DescribedField
}

export interface ColumnsOptions<Name extends string, Key extends string> {
  /** The fields to show, in this order. Fields that the caller cannot read are left out. @default all readable fields */
  readonly fields?: MaybeRefOrGetter<readonly Name[]>
  /** The first sort order. */
  readonly sort?: Key | readonly Key[]
}

export interface ColumnsResult<Name extends string, Field extends string, Key extends string> {
  /** Empty until the description is loaded. */
  readonly columns: ComputedRef<Column<Name>[]>
  /** The names of the columns, for the parameter `fields` of a list. The key columns come along, so that rows can be addressed. */
  readonly fields: ComputedRef<Field[]>
  /** The sort order in the format of TanStack Table. A table changes it: `v-model:sorting="sorting"`. */
  readonly sorting: Ref<{ id: string, desc: boolean }[]>
  /** The same order as the parameter `sort` of a list. */
  readonly sort: ComputedRef<Key[]>
  readonly suspense: () => Promise<unknown>
}

/**
 * Creates the columns of a table for TanStack Table or `UTable`: the fields that the caller can read, with labels and kinds.
 * @example
 * const { columns, sorting, sort } = useAutoApiColumns('posts', { fields: ['title', 'publishedAt'], sort: '-publishedAt' })
 * const { data } = useAutoApiList('posts', () => ({ sort: sort.value }))
 */
export function useAutoApiColumns<R extends ResourceWith<'read'>, const Name extends FieldName<R> = FieldName<R>>(
  resource: R,
  options?: ColumnsOptions<Name, SortKey<R>>,
): ColumnsResult<Name, FieldName<R>, SortKey<R>>
/** Creates the columns of a table for a resource whose name is known only at run time. */
export function useAutoApiColumns<N extends string, L extends OnlyAtRunTime<N>>(
  resource: N, options?: ColumnsOptions<string, string>, ...literal: L
): ColumnsResult<string, string, string>
export function useAutoApiColumns(
  resource: string, options: ColumnsOptions<string, string> = {},
): ColumnsResult<string, string, string> {
  const schema = useAutoApiSchema({ resources: [resource], ...SHARED })
  const described = computed(() => schema.resource(resource))
  const sorting = ref([options.sort ?? []].flat().map(toSorting))
  const columns = computed(() => {
    const fields: Readonly<Record<string, DescribedField>> = described.value?.fields ?? {}
    return (toValue(options.fields) ?? Object.keys(fields)).flatMap((name): Column<string>[] => {
      const field = Object.hasOwn(fields, name) ? fields[name]! : undefined
      return field?.readable ? [{ id: name, accessorKey: name, header: field.label, enableSorting: field.sortable, field }] : []
    })
  })
  const isSortable = (name: string) => described.value?.fields[name]?.sortable ?? false
  return {
    columns,
    fields: computed(() => [...new Set([...described.value?.primaryKey ?? [], ...columns.value.map(({ id }) => id)])]),
    sorting,
    // A table can keep the order by a field that this caller cannot sort by.
    sort: computed(() => sorting.value.filter(({ id }) => isSortable(id)).map(({ id, desc }) => desc ? `-${id}` : id)),
    suspense: schema.suspense,
  }
}

const toSorting = (key: string) => key.startsWith('-') ? { id: key.slice(1), desc: true } : { id: key, desc: false }
