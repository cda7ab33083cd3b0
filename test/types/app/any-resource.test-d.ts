/** The types of the composables for a resource whose name is known only at run time. */
import { useQueryClient } from '@tanstack/vue-query'
import { expectTypeOf, test } from 'vitest'
import { computed } from 'vue'
import {
  useAutoApiAggregate,
  useAutoApiBulkCreate,
  useAutoApiBulkDelete,
  useAutoApiBulkUpdate,
  useAutoApiColumns,
  useAutoApiCreate,
  useAutoApiDelete,
  useAutoApiExport,
  useAutoApiFile,
  useAutoApiFileRemove,
  useAutoApiForm,
  useAutoApiGet,
  useAutoApiHistory,
  useAutoApiHistoryInfinite,
  useAutoApiImport,
  useAutoApiInfinite,
  useAutoApiList,
  useAutoApiMutation,
  useAutoApiOptimisticUpdate,
  useAutoApiPermissions,
  useAutoApiPurge,
  useAutoApiRecordPermissions,
  useAutoApiRelation,
  useAutoApiRelationAdd,
  useAutoApiRelationRemove,
  useAutoApiRelationReplace,
  useAutoApiRestore,
  useAutoApiRevert,
  useAutoApiTokenRotate,
  useAutoApiUpdate,
  useAutoApiUpload,
  type AutoApiRecord,
} from '../../support/composables'
import type { Affected, BulkAffected } from '../../../src/runtime/app/actions'

type Row = Readonly<Record<string, unknown>>
declare const resource: string
declare function valueOf<T>(result: { readonly data: { readonly value: T } }): NonNullable<T>

test('reads have records with unknown values', () => {
  const list = useAutoApiList(resource, () => ({ page: 1, sort: '-id' }))
  const names = computed(() => list.data.value?.data.map(row => String(row.name)))
  expectTypeOf(names.value).toEqualTypeOf<string[] | undefined>()
  expectTypeOf(valueOf(list).data).toEqualTypeOf<readonly Row[]>()
  expectTypeOf(valueOf(list).meta.total).toEqualTypeOf<number | undefined>()
  expectTypeOf(valueOf(useAutoApiGet(resource, 1))).toEqualTypeOf<Row>()
  expectTypeOf(valueOf(useAutoApiList(resource, {}, { select: ({ data }) => data.length }))).toEqualTypeOf<number>()
  expectTypeOf(valueOf(useAutoApiInfinite(resource, { limit: 5 })).pages[0]!.meta.nextCursor).toEqualTypeOf<string | null>()
  expectTypeOf(valueOf(useAutoApiAggregate(resource, { aggregate: ['count'] })).data[0]!.count).toEqualTypeOf<number | undefined>()
  expectTypeOf(valueOf(useAutoApiRelation(resource, 1, 'tags')).data).toEqualTypeOf<readonly Row[]>()
  expectTypeOf(useAutoApiPermissions(resource).canField).parameter(0).toBeString()
  expectTypeOf(useAutoApiRecordPermissions(resource, [1]).can(1, 'update')).toBeBoolean()
})

test('writes take and return records with unknown values', () => {
  const { mutateAsync } = useAutoApiUpdate(resource, { ifMatch: true, onSuccess: row => expectTypeOf(row).toEqualTypeOf<Row>() })
  expectTypeOf(mutateAsync({ id: 1, anything: 'x' })).resolves.toEqualTypeOf<Row>()
  // @ts-expect-error -- the id is missing
  void mutateAsync({ anything: 'x' })
  useAutoApiCreate(resource).mutate({ anything: 1 })
  useAutoApiDelete(resource).mutate({ id: 1, reason: 'spam' })
  useAutoApiRestore(resource).mutate({ deletionId: 'x' })
  useAutoApiPurge(resource).mutate({ ids: [1] })
  useAutoApiBulkCreate(resource).mutate([{ anything: 1 }])
  useAutoApiBulkUpdate(resource).mutate([{ id: 1, data: { anything: 1 } }])
  useAutoApiBulkDelete(resource).mutate([1])
  useAutoApiRelationAdd(resource, 'tags').mutate({ id: 1, ids: [2] })
  useAutoApiRelationRemove(resource, 'tags').mutate({ id: 1, ids: [2] })
  useAutoApiRelationReplace(resource, 'tags').mutate({ id: 1, ids: [2] })
  useAutoApiOptimisticUpdate(useQueryClient(), resource, 1, { anything: 1 }).rollback()
  const removal = useAutoApiMutation(resource, 'delete' as 'delete' | 'bulkDelete', { dryRun: true })
  expectTypeOf(valueOf(removal)).toEqualTypeOf<Affected | BulkAffected>()
  // @ts-expect-error -- no such action
  useAutoApiMutation(resource, 'publish')
})

test('forms and columns have fields of any name', () => {
  const form = useAutoApiForm(resource, { id: 1, defaults: { anything: 1 } })
  form.state.anything = 'x'
  expectTypeOf(form.submit).returns.resolves.toEqualTypeOf<Row | undefined>()
  expectTypeOf(form.errorOf).parameter(0).toBeString()
  expectTypeOf(useAutoApiColumns(resource, { fields: ['anything'], sort: '-anything' }).fields.value).toEqualTypeOf<string[]>()
})

test('the composables of plugins accept such a name too', () => {
  useAutoApiExport(resource).mutate({ anything: 1, format: 'csv' })
  // @ts-expect-error -- no such format
  useAutoApiExport(resource).mutate({ format: 'xlsx' })
  useAutoApiImport(resource, { dryRun: true }).mutate({ file: new Blob() })
  expectTypeOf(useAutoApiUpload(resource, 'cover').mutateAsync).returns.resolves.toEqualTypeOf<Row>()
  useAutoApiFileRemove(resource, 'cover').mutate({ id: 1, key: 'a' })
  expectTypeOf([useAutoApiFile(resource, 'cover')({})].flat()[0]?.url).toEqualTypeOf<string | undefined>()
  useAutoApiHistory(resource, 1, { limit: 5 })
  useAutoApiHistoryInfinite(resource, () => undefined)
  expectTypeOf(useAutoApiRevert(resource).mutateAsync({ id: 'x' })).resolves.toEqualTypeOf<Row>()
  expectTypeOf(useAutoApiTokenRotate(resource).mutateAsync(1)).resolves.toEqualTypeOf<Row>()
})

test('a literal name and a part of one are checked', () => {
  // @ts-expect-error -- no such resource
  useAutoApiList('artciles')
  // @ts-expect-error -- no such resource
  useAutoApiList('artciles', {}, {})
  // @ts-expect-error -- no such resource
  useAutoApiGet('artciles', 1, {}, {})
  // @ts-expect-error -- no such resource
  useAutoApiUpdate('artciles', {})
  // @ts-expect-error -- one of the names is not one of a resource
  useAutoApiList('articles' as 'articles' | 'artciles')
  // @ts-expect-error -- no such resource
  useAutoApiList('x' as `x${string}`)
  // @ts-expect-error -- it is unknown whether the name is a literal
  const generic = <R extends string>(name: R) => useAutoApiList(name)
  void generic
})

test('the type of a composable with a name is that of the typed form', () => {
  type List = NonNullable<ReturnType<typeof useAutoApiList<'articles'>>['data']['value']>
  expectTypeOf<List['data'][number]>().toEqualTypeOf<AutoApiRecord<'articles'>>()
})
