/** The columns of a table and its sort order, from the description of the API. */
import { computed, ref, toValue, type ComputedRef, type MaybeRefOrGetter, type Ref } from 'vue'
import type { ApiDescription, DescribedField, DescribedResource } from '../../shared/types/description'
import { COUNT_PROPERTY, countedRelation } from '../../shared/relation-counts'
import type { CountedName, Include, RelatedField, SortKey } from '../../shared/types/query'
import type { FieldName, ResourceWith, ToManyName } from '../../shared/types/resources'
import type { OnlyAtRunTime } from '../any-resource'
import { countField } from '../count-field'
import { targetOf } from '../keys'
import { SHARED, useAutoApiSchema } from './schema'

/** A column of TanStack Table, which `UTable` of Nuxt UI accepts too. */
export interface Column<Name extends string> {
  readonly id: Name
  /** The place of the value in a record: the name, or `_count.comments` for the column `comments.$count`. */
  readonly accessorKey: AccessorOf<Name>
  /** The label of the field. For a field of a relation, also the label of the relation, and for a count this label alone. */
  readonly header: string
  /** Whether lists can be sorted by the field. */
  readonly enableSorting: boolean
  /** The description of the field: kind, enum, nullable and so on. A count has the kind `integer`. */
  readonly field: DescribedField
}

/** `_count.comments` for `comments.$count`. */
type AccessorOf<Name extends string> = Name extends `${infer Relation}.$count` ? `_count.${Relation}` : Name

export interface ColumnsOptions<Name extends string, Key extends string> {
  /**
   * The fields to show, in this order: also fields of to-one relations, such as `author.name`, and numbers of related records, such as
   * `comments.$count`. What the caller cannot read is left out.
   * @default all readable fields of the resource, without lazy ones
   */
  readonly fields?: MaybeRefOrGetter<readonly Name[]>
  /** The first sort order. */
  readonly sort?: Key | readonly Key[]
}

export interface ColumnsResult<
  Name extends string, Field extends string, Key extends string, Included = RelatedFields, Counted extends string = string,
> {
  /** Empty until the description is loaded. */
  readonly columns: ComputedRef<Column<Name>[]>
  /** The names of the columns, for the parameter `fields` of a list. The key columns come along, so that rows can be addressed. */
  readonly fields: ComputedRef<Field[]>
  /** The relations of the columns, for the parameter `include` of a list. */
  readonly include: ComputedRef<Included>
  /** The relations of the columns that show a number of records, for the parameter `counts` of a list. */
  readonly counts: ComputedRef<Counted[]>
  /** The sort order in the format of TanStack Table. A table changes it: `v-model:sorting="sorting"`. */
  readonly sorting: Ref<{ id: string, desc: boolean }[]>
  /** The same order as the parameter `sort` of a list. */
  readonly sort: ComputedRef<Key[]>
  readonly suspense: () => Promise<unknown>
}

/** `{ author: { fields: ['name'] } }` */
type RelatedFields = Readonly<Record<string, { readonly fields: readonly string[] }>>

/**
 * Creates the columns of a table for TanStack Table or `UTable`: the fields that the caller can read, with labels and kinds.
 * @example
 * const { columns, sorting, sort } = useAutoApiColumns('posts', { fields: ['title', 'publishedAt'], sort: '-publishedAt' })
 * const { data } = useAutoApiList('posts', () => ({ sort: sort.value }))
 */
export function useAutoApiColumns<
  R extends ResourceWith<'read'>, const Name extends FieldName<R> | RelatedField<R> | CountedName<R> = FieldName<R>,
>(
  resource: R,
  options?: ColumnsOptions<Name, SortKey<R>>,
): ColumnsResult<Name, FieldName<R>, SortKey<R>, Include<R>, ToManyName<R>>
/** Creates the columns of a table for a resource whose name is known only at run time. */
export function useAutoApiColumns<N extends string, L extends OnlyAtRunTime<N>>(
  resource: N, options?: ColumnsOptions<string, string>, ...literal: L
): ColumnsResult<string, string, string>
export function useAutoApiColumns(
  resource: string, options: ColumnsOptions<string, string> = {},
): ColumnsResult<string, string, string, unknown> {
  const sorting = ref([options.sort ?? []].flat().map(toSorting))
  const names = () => [...toValue(options.fields) ?? [], ...sorting.value.map(({ id }) => id)]
  const described = () => [...new Set([resource, ...names().map(name => relatedTo(resource, name))])].filter(name => name !== undefined)
  const schema = useAutoApiSchema({ resources: described, ...SHARED })
  const columnOf = (name: string) => findColumn(schema.data.value?.resources ?? {}, resource, name)
  const columns = computed(() => {
    const fields = toValue(options.fields) ?? defaultNames(schema.resource(resource))
    return fields.flatMap((name): Column<string>[] => {
      const found = columnOf(name)
      if (!found?.isShown) return []
      const { label: header, field, isSortable: enableSorting, accessorKey = name } = found
      return [{ id: name, accessorKey, header, enableSorting, field }]
    })
  })
  const ids = () => columns.value.map(({ id }) => id)
  return {
    columns,
    fields: computed(() => {
      const own = ids().filter(name => !name.includes('.'))
      return [...new Set([...schema.resource(resource)?.primaryKey ?? [], ...own])]
    }),
    include: computed(() => {
      const include: Record<string, { fields: string[] }> = {}
      for (const id of ids()) {
        const [relation, field] = countedRelation(id) === undefined ? id.split('.') : []
        if (field !== undefined) (include[relation!] ??= { fields: [] }).fields.push(field)
      }
      return include
    }),
    counts: computed(() => ids().flatMap(id => countedRelation(id) ?? [])),
    sorting,
    // A table can keep the order by a field that this caller cannot sort by.
    sort: computed(() => sorting.value.filter(({ id }) => columnOf(id)?.isSortable).map(({ id, desc }) => desc ? `-${id}` : id)),
    suspense: schema.suspense,
  }
}

/** A lazy field is only loaded if a page names it. */
const defaultNames = ({ fields }: Pick<DescribedResource, 'fields'> = { fields: {} }): string[] =>
  Object.keys(fields).filter(name => !fields[name]!.lazy)

const own = <T>(values: Readonly<Record<string, T>>, name: string): T | undefined => Object.hasOwn(values, name) ? values[name] : undefined

/** The resource that a name such as `author.name` is about, besides that of the table. */
function relatedTo(resource: string, name: string): string | undefined {
  const dot = name.indexOf('.')
  const target = dot === -1 || countedRelation(name) !== undefined ? '*' : targetOf(resource, name.slice(0, dot))
  return target === '*' ? undefined : target
}

interface Found {
  /** If it is not the name. */
  readonly accessorKey?: string
  readonly label: string
  readonly field: DescribedField
  readonly isShown: boolean
  readonly isSortable: boolean
}

function findColumn(resources: ApiDescription['resources'], resource: string, name: string): Found | undefined {
  const relation = countedRelation(name)
  return relation === undefined ? findField(resources, resource, name) : findCount(own(resources, resource), relation)
}

function findCount(described: DescribedResource | undefined, name: string): Found | undefined {
  const relation = own(described?.relations ?? {}, name)
  if (!relation || relation.kind === 'one') return undefined
  const field = countField(relation)
  return { label: field.label, accessorKey: `${COUNT_PROPERTY}.${name}`, field, isShown: relation.countable, isSortable: field.sortable }
}

function findField(resources: ApiDescription['resources'], resource: string, name: string): Found | undefined {
  const { fields = {}, relations = {} } = own(resources, resource) ?? {}
  const field = own(fields, name)
  if (field) return { field, label: field.label, isShown: field.readable, isSortable: field.sortable }
  const [first, ...rest] = name.split('.')
  const relation = own(relations, first!)
  if (relation?.kind !== 'one' || rest.length !== 1) return undefined
  const found = findField(resources, relation.target, rest[0]!)
  return found && {
    field: found.field,
    label: `${relation.label}: ${found.label}`,
    isShown: relation.includable && found.isShown,
    isSortable: relation.filterable && found.isSortable,
  }
}

const toSorting = (key: string) => key.startsWith('-') ? { id: key.slice(1), desc: true } : { id: key, desc: false }
