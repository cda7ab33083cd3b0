/** The types of the composables: queries, bodies and the exact shape of responses, by registered table. */
import { describe, expectTypeOf, test } from 'vitest'
import { computed, ref } from 'vue'
import { useQueryClient } from '@tanstack/vue-query'
import {
  autoApiTag,
  useAutoApiActivity,
  useAutoApiActivityInfinite,
  useAutoApiAggregate,
  useAutoApiAuditLog,
  useAutoApiBatch,
  useAutoApiBulkCreate,
  useAutoApiBulkDelete,
  useAutoApiBulkUpdate,
  useAutoApiCreate,
  useAutoApiDelete,
  useAutoApiEndpoint,
  useAutoApiExport,
  useAutoApiFile,
  useAutoApiFileRemove,
  useAutoApiGet,
  useAutoApiHistory,
  useAutoApiHistoryInfinite,
  useAutoApiImport,
  useAutoApiInfinite,
  useAutoApiList,
  useAutoApiLive,
  useAutoApiMutation,
  useAutoApiOptimisticUpdate,
  useAutoApiPermissions,
  useAutoApiPurge,
  useAutoApiRecordPermissions,
  useAutoApiRelation,
  useAutoApiRelationAdd,
  useAutoApiRestore,
  useAutoApiRevert,
  useAutoApiSchema,
  useAutoApiUpdate,
  useAutoApiUpload,
  type AutoApiActivityEntry,
  type AutoApiAuditEntry,
  type AutoApiError,
  type AutoApiRecord,
  type AutoApiStoredFile,
} from '../../support/composables'
import type { Affected, BulkAffected } from '../../../src/runtime/app/actions'
import type { ApiDescription, DescribedField, DescribedResource } from '../../../src/runtime/shared/types/description'
import type { OperatorName } from '../../../src/runtime/shared/operators'
import type {
  BulkResponse,
  BulkDeletion,
  Deletion,
  GlobalResponses,
  LinkResponse,
  RouteResponses,
} from '../../../src/runtime/shared/types/responses'

declare module 'nitropack/types' {
  interface InternalApi {
    '/api/articles': { get: RouteResponses<'articles'>['list'], post: RouteResponses<'articles'>['create'] }
    '/api/articles/:id': { get: RouteResponses<'articles'>['get'], delete: RouteResponses<'articles'>['delete'] }
  }
}

interface Article {
  id: number
  writerId: number | null
  title: string
  status: 'draft' | 'published'
  featured: boolean
  views: number
  reads: string | null
  price: string | null
  layout: { columns: number } | null
  publishedAt: string | null
  organizationId: number
  createdAt: string
  deletedAt: string | null
}

interface Writer { id: number, name: string }

declare function valueOf<T>(result: { readonly data: { readonly value: T } }): NonNullable<T>

describe('a list', () => {
  test('has records in their wire format: dates, bigints and decimals as text, no hidden fields', () => {
    const list = useAutoApiList('articles')
    expectTypeOf(valueOf(list).data[0]!).toEqualTypeOf<Article>()
    expectTypeOf(valueOf(list).meta).toEqualTypeOf<{ page: number, limit: number, total: number }>()
    const writers = useAutoApiList('writers')
    expectTypeOf(valueOf(writers).data[0]!).toEqualTypeOf<Writer>()
  })

  test('has the requested fields and relations at every depth', () => {
    const list = useAutoApiList('articles', {
      fields: ['id', 'title'],
      include: {
        writer: { fields: ['name'], include: { articles: { fields: ['id'], limit: 3, sort: '-id' } } },
        labels: true,
        ratings: false,
      },
    })
    expectTypeOf(valueOf(list).data[0]!).toEqualTypeOf<{
      id: number
      title: string
      writer: { name: string, articles: { id: number }[] } | null
      labels: { id: number, name: string, colour: string }[]
    }>()
  })

  test('has the counts that the query names, at every depth, and of relations to several records only', () => {
    const list = useAutoApiList('articles', {
      fields: ['id'], counts: ['labels', 'ratings'], include: { writer: { fields: ['name'], counts: ['articles'] } },
    })
    expectTypeOf(valueOf(list).data[0]!).toEqualTypeOf<{
      id: number
      writer: { name: string, _count: { articles: number } } | null
      _count: { labels: number, ratings: number }
    }>()
    const got = useAutoApiGet('writers', 1, () => ({ counts: ['articles'] }))
    expectTypeOf(got.data.value!).toEqualTypeOf<{ id: number, name: string, _count: { articles: number } }>()
    const endless = useAutoApiInfinite('writers', { counts: ['articles'] })
    expectTypeOf(endless.data.value!.pages[0]!.data[0]!._count).toEqualTypeOf<{ articles: number }>()
    // @ts-expect-error -- there is no count that the query does not name
    void valueOf(list).data[0]!._count.writer
    // @ts-expect-error -- without `counts`, a record has no `_count`
    void useAutoApiGet('writers', 1).data.value!._count
    // @ts-expect-error -- an unknown relation
    useAutoApiList('articles', { counts: ['nobody'] })
    // @ts-expect-error -- a relation to one record
    useAutoApiList('articles', { counts: ['writer'] })
    // @ts-expect-error -- an unknown relation in an include
    useAutoApiList('articles', { include: { writer: { counts: ['writers'] } } })
    // @ts-expect-error -- a read parameter
    useAutoApiAggregate('articles', { counts: ['labels'] })
  })

  test('has properties of a hook only if `select` declares them', () => {
    const { data } = useAutoApiGet('articles', 1, {}, { select: article => article as typeof article & { label: string } })
    expectTypeOf(data.value!.label).toEqualTypeOf<string>()
    // @ts-expect-error -- `afterGet` adds the property
    void useAutoApiGet('articles', 1).data.value!.label
  })

  test('infers the query from an object, a getter and a ref', () => {
    const status = ref<'draft' | 'published'>('draft')
    const got = useAutoApiList('articles', () => ({ fields: ['id'], filter: { status: status.value }, include: { writer: true } }))
    expectTypeOf(valueOf(got).data[0]!).toEqualTypeOf<{ id: number, writer: Writer | null }>()
    const computedQuery = computed(() => ({ filter: { status: status.value }, page: 2 }))
    const computedList = useAutoApiList('articles', computedQuery)
    expectTypeOf(valueOf(computedList).data[0]!).toEqualTypeOf<Article>()
  })

  test('knows the kind of its pages', () => {
    const byCursor = useAutoApiList('articles', { cursor: '' })
    expectTypeOf(valueOf(byCursor).meta).toEqualTypeOf<{ limit: number, hasMore: boolean, nextCursor: string | null }>()
    const uncounted = useAutoApiList('articles', { page: 1, count: 'none' })
    expectTypeOf(valueOf(uncounted).meta).toEqualTypeOf<{ page: number, limit: number, hasMore: boolean }>()
    const estimated = useAutoApiList('articles', { page: 1, count: 'estimated' })
    expectTypeOf(valueOf(estimated).meta).toEqualTypeOf<{
      page: number
      limit: number
      total: number
      hasMore: boolean
      totalIsMore?: true
      totalIsEstimated?: true
    }>()
    const summed = useAutoApiList('articles', { page: 1, aggregate: ['sum(views)', 'sum(reads)', 'max(publishedAt)'] })
    expectTypeOf(valueOf(summed).meta.aggregates).toEqualTypeOf<{
      sum_views: number | null
      sum_reads: string | null
      max_publishedAt: string | null
    }>()
  })

  test('accepts the values of a column', () => {
    useAutoApiList('articles', {
      filter: {
        title: { $like: 'tram' },
        status: ['draft', 'published'],
        featured: true,
        views: { $gte: 1, $lt: 5 },
        reads: 9_007_199_254_740_993n,
        price: '1.50',
        publishedAt: { $gt: new Date(), $null: false },
        layout: { $null: true },
        writerId: null,
        $or: [{ id: 1 }, { id: { $in: [2] } }],
      },
    })
  })

  test('accepts conditions on related rows, as deep as includes', () => {
    useAutoApiList('articles', {
      filter: {
        writer: { name: 'Ann', articles: { status: 'draft' } },
        labels: null,
        ratings: { $null: false },
        $or: [{ writer: { $ne: null } }, { labels: { name: ['a', 'b'] } }],
      },
    })
    useAutoApiList('articles', () => ({
      filter: { title: 'x', writer: { name: { $like: 'A' } } },
      include: { ratings: { filter: { writer: { name: 'Ann' } } } },
    }))
    useAutoApiAggregate('articles', { aggregate: ['count'], filter: { labels: { articles: { writer: { id: 1 } } } } })
  })

  test('has the result of its `select`', () => {
    const ids = useAutoApiList('articles', { fields: ['id'] }, { select: ({ data }) => data.map(({ id }) => id) })
    expectTypeOf(valueOf(ids)).toEqualTypeOf<number[]>()
  })
})

describe('an order by related records', () => {
  test('names a field of a to-one relation, or the number of records of another', () => {
    useAutoApiList('articles', { sort: ['writer.name', '-labels.$count', '-title'] })
    useAutoApiInfinite('articles', { sort: '-writer.name' })
    useAutoApiRelation('writers', 1, 'articles', { sort: 'labels.$count' })
    useAutoApiGet('writers', 1, { include: { articles: { sort: 'labels.$count' } } })
  })
})

describe('a wrong name', () => {
  test('of a resource, a field or a relation does not compile', () => {
    // @ts-expect-error -- no such resource
    useAutoApiList('artciles')
    // @ts-expect-error -- no such field
    useAutoApiList('articles', { fields: ['id', 'titel'] })
    // @ts-expect-error -- no such field
    useAutoApiList('articles', () => ({ fields: ['titel'] }))
    // @ts-expect-error -- the field is hidden
    useAutoApiList('writers', { fields: ['secret'] })
    // @ts-expect-error -- the field is hidden
    useAutoApiList('writers', { filter: { secret: 'x' } })
    // @ts-expect-error -- no such field to order by
    useAutoApiList('articles', { sort: '-titel' })
    // @ts-expect-error -- JSON has no order
    useAutoApiList('articles', { sort: 'layout' })
    // @ts-expect-error -- no such field of the relation to order by
    useAutoApiList('articles', { sort: 'writer.title' })
    // @ts-expect-error -- the field of the relation is hidden
    useAutoApiList('articles', { sort: '-writer.secret' })
    // @ts-expect-error -- no such relation to order by
    useAutoApiList('articles', { sort: 'author.name' })
    // @ts-expect-error -- a list of records has no field to order by
    useAutoApiList('articles', { sort: 'labels.name' })
    // @ts-expect-error -- one record is not counted
    useAutoApiList('articles', { sort: 'writer.$count' })
    // @ts-expect-error -- a cursor has fields of the resource
    useAutoApiList('articles', { cursorFields: ['writer.name'] })
    // @ts-expect-error -- no such relation
    useAutoApiList('articles', { include: { author: true } })
    // @ts-expect-error -- no such relation at this depth
    useAutoApiList('articles', { include: { writer: { include: { writer: true } } } })
    // @ts-expect-error -- no such field of the relation
    useAutoApiList('articles', () => ({ include: { writer: { fields: ['title'] } } }))
  })

  test('does not compile beside a correct one, in an object or a getter', () => {
    // @ts-expect-error -- no such field
    useAutoApiList('articles', { filter: { title: 'x', titel: 'x' } })
    // @ts-expect-error -- no such field
    useAutoApiList('articles', () => ({ filter: { title: 'x', titel: 'x' } }))
    // @ts-expect-error -- no such field in a branch
    useAutoApiList('articles', () => ({ filter: { $or: [{ title: 'x' }, { title: 'x', titel: 'x' }] } }))
    // @ts-expect-error -- no such field of the relation
    useAutoApiList('articles', { filter: { writer: { title: 'x' } } })
    // @ts-expect-error -- no such field of the relation, beside a correct one
    useAutoApiList('articles', () => ({ filter: { writer: { name: 'x', nam: 'x' } } }))
    // @ts-expect-error -- the field of the relation is hidden
    useAutoApiList('articles', { filter: { writer: { secret: 'x' } } })
    // @ts-expect-error -- a value that does not fit the field of the relation
    useAutoApiList('articles', { filter: { labels: { articles: { featured: 'yes' } } } })
    // @ts-expect-error -- no such relation
    useAutoApiList('articles', { filter: { author: { name: 'x' } } })
    // @ts-expect-error -- a relation has no value to compare with
    useAutoApiList('articles', { filter: { writer: 'Ann' } })
    // @ts-expect-error -- $or stays at the top level
    useAutoApiList('articles', { filter: { writer: { $or: [{ name: 'x' }] } } })
    // @ts-expect-error -- no such parameter
    useAutoApiList('articles', () => ({ page: 1, pagesize: 3 }))
    // @ts-expect-error -- no such relation
    useAutoApiList('articles', () => ({ include: { writer: true, author: true } }))
    // @ts-expect-error -- to-one relations have no limit
    useAutoApiList('articles', () => ({ include: { writer: { fields: ['id'], limit: 3, offset: 4 } } }))
  })
})

describe('an operator that does not fit its column', () => {
  test('does not compile', () => {
    // @ts-expect-error -- numbers are not matched by a pattern
    useAutoApiList('articles', { filter: { views: { $like: '1' } } })
    // @ts-expect-error -- decimals are not matched by a pattern
    useAutoApiList('articles', { filter: { price: { $like: '1' } } })
    // @ts-expect-error -- beside one that fits
    useAutoApiList('articles', () => ({ filter: { views: { $gt: 1, $like: '1' } } }))
    // @ts-expect-error -- booleans have no order
    useAutoApiList('articles', { filter: { featured: { $gt: false } } })
    // @ts-expect-error -- JSON can only be null or not null
    useAutoApiList('articles', { filter: { layout: { $eq: { columns: 1 } } } })
    // @ts-expect-error -- no such operator
    useAutoApiList('articles', { filter: { title: { $regex: 'x' } } })
    // @ts-expect-error -- not one of the column's values
    useAutoApiList('articles', { filter: { status: 'archived' } })
    // @ts-expect-error -- a number, not text
    useAutoApiList('articles', { filter: { views: 'many' } })
  })
})

describe('a record', () => {
  test('can be requested by an id that is not known yet', () => {
    const one = useAutoApiGet('articles', () => undefined as string | undefined, { include: { writer: true } })
    expectTypeOf(valueOf(one)).toEqualTypeOf<Article & { writer: Writer | null } extends infer T ? { [K in keyof T]: T[K] } : never>()
    expectTypeOf(one.error.value).toEqualTypeOf<AutoApiError | null>()
    // @ts-expect-error -- a record has no pages
    useAutoApiGet('articles', 1, { page: 1 })
  })
})

describe('an infinite list', () => {
  test('has pages by cursor', () => {
    const list = useAutoApiInfinite('articles', { fields: ['id'], sort: ['-publishedAt', 'title'] })
    expectTypeOf(valueOf(list).pages[0]!.data).toEqualTypeOf<{ id: number }[]>()
    expectTypeOf(valueOf(list).pages[0]!.meta.nextCursor).toEqualTypeOf<string | null>()
    // @ts-expect-error -- it sets the cursor itself
    useAutoApiInfinite('articles', { page: 2 })
  })
})

describe('an aggregate', () => {
  test('has its aliases and its groups', () => {
    const groups = useAutoApiAggregate('articles', {
      aggregate: ['count', 'count(title)', 'avg(price)', 'min(title)'],
      groupBy: ['status', 'writerId'],
      having: { count: { $gt: 1 } },
      sort: ['-count', 'status'],
    })
    expectTypeOf(valueOf(groups).data[0]!).toEqualTypeOf<{
      group: { status: 'draft' | 'published', writerId: number | null }
      count: number
      count_title: number
      avg_price: string | null
      min_title: string | null
    }>()
    const counted = useAutoApiAggregate('articles')
    expectTypeOf(valueOf(counted).data[0]!).toEqualTypeOf<{ count: number }>()
  })

  test('accepts only the functions of the column\'s kind', () => {
    // @ts-expect-error -- text has no sum
    useAutoApiAggregate('articles', { aggregate: ['sum(title)'] })
    // @ts-expect-error -- no such function
    useAutoApiAggregate('articles', { aggregate: ['median(views)'] })
    // @ts-expect-error -- JSON cannot be grouped by
    useAutoApiAggregate('articles', { groupBy: ['layout'] })
    // @ts-expect-error -- no such alias
    useAutoApiAggregate('articles', { having: { sum_title: 1 } })
  })
})

describe('a body', () => {
  test('of a create has the writable columns, and requires those without a default', () => {
    const { mutate } = useAutoApiCreate('articles')
    mutate({ title: 'New' })
    mutate({
      title: 'New',
      publishedAt: new Date(),
      createdAt: '2026-01-01',
      reads: 1n,
      price: 1.5,
      writerId: null,
      layout: { columns: 2 },
    })
    // @ts-expect-error -- the title is missing
    mutate({ status: 'draft' })
    // @ts-expect-error -- the server sets the tenant
    mutate({ title: 'New', organizationId: 1 })
    // @ts-expect-error -- the server sets the trash columns
    mutate({ title: 'New', deletedAt: null })
    // @ts-expect-error -- the database generates the key
    mutate({ title: 'New', id: 1 })
    // @ts-expect-error -- the field is protected
    mutate({ title: 'New', views: 1 })
    // @ts-expect-error -- not one of the column's values
    mutate({ title: 'New', status: 'archived' })
  })

  test('of an update has the id and any of the columns', () => {
    const { mutate, data } = useAutoApiUpdate('articles', { optimistic: true })
    mutate({ id: 1, title: 'New' })
    expectTypeOf(data.value).toEqualTypeOf<Article | undefined>()
    // @ts-expect-error -- the id is missing
    mutate({ title: 'New' })
    // @ts-expect-error -- the column is set only by a create
    mutate({ id: 1, createdAt: new Date() })
    useAutoApiBulkUpdate('articles').mutate([{ id: 1, data: { featured: true } }])
    // @ts-expect-error -- no such column
    useAutoApiBulkUpdate('articles').mutate([{ id: 1, data: { titel: 'x' } }])
  })

  test('is the input of the registration\'s own schema, if it has one', () => {
    useAutoApiBulkCreate('labels').mutate([{ name: 'Sport', colour: 'red' }])
    // @ts-expect-error -- the column accepts it, but the schema does not
    useAutoApiCreate('labels').mutate({ name: 'Sport', colour: 'green' })
    // The registration has no schema for updates.
    useAutoApiUpdate('labels').mutate({ id: 1, colour: 'green' })
  })

  test('contains the children that the registration lists, without their foreign key', () => {
    useAutoApiCreate('notices').mutate({ title: 'New', replies: { create: [{ body: 'First' }, { body: 'Second', noticeId: 1 }] } })
    useAutoApiUpdate('notices').mutate({ id: 1, replies: { create: [{ body: 'Third' }], delete: [2] } })
    useAutoApiBulkUpdate('notices').mutate([{ id: 1, data: { replies: { delete: ['2'] } } }])
    // @ts-expect-error -- no such column of a child
    useAutoApiCreate('notices').mutate({ title: 'New', replies: { create: [{ text: 'First' }] } })
    // @ts-expect-error -- the registration does not list updates
    useAutoApiUpdate('notices').mutate({ id: 1, replies: { update: [{ id: 2, data: {} }] } })
    // @ts-expect-error -- the registration lists no children
    useAutoApiUpdate('writers').mutate({ id: 1, articles: { create: [] } })
  })

  test('links the records of a relation that the registration lists', () => {
    useAutoApiUpdate('writers').mutate({ id: 1, articlesByRatings: { link: [1, '2'] } })
    useAutoApiBulkUpdate('writers').mutate([{ id: 1, data: { articlesByRatings: { link: [1] } } }])
    // @ts-expect-error -- the registration lists no other action
    useAutoApiUpdate('writers').mutate({ id: 1, articlesByRatings: { unlink: [1] } })
    // @ts-expect-error -- an id is text or a number
    useAutoApiUpdate('writers').mutate({ id: 1, articlesByRatings: { link: [{ id: 1 }] } })
  })

  test('of a composite key has both of its columns', () => {
    useAutoApiCreate('ratings').mutate({ articleId: 1, writerId: 2, stars: 3 })
    // @ts-expect-error -- an update cannot change the key
    useAutoApiUpdate('ratings').mutate({ id: '1,2', articleId: 3 })
  })
})

describe('other writes', () => {
  test('have typed arguments and responses', () => {
    const gone = useAutoApiDelete('articles')
    gone.mutate(1)
    gone.mutate({ id: 1, reason: 'spam' })
    expectTypeOf(gone.data.value).toEqualTypeOf<Deletion | undefined>()
    const back = useAutoApiRestore('articles')
    back.mutate({ deletionId: 'x' })
    expectTypeOf(back.data.value).toEqualTypeOf<Article | BulkResponse<'articles'> | undefined>()
    const any = useAutoApiMutation('articles', 'bulkDelete', { onSuccess: ({ data }) => data[0]?.deletionId })
    any.mutate([1, '2'])
    expectTypeOf(any.data.value).toEqualTypeOf<BulkDeletion | undefined>()
    // @ts-expect-error -- no such action
    useAutoApiMutation('articles', 'publish')
  })

  test('have optimistic updates with the fields of a record', () => {
    const client = useQueryClient()
    expectTypeOf(useAutoApiOptimisticUpdate(client, 'articles', 1, { title: 'New', views: 3 })).toEqualTypeOf<{ rollback: () => void }>()
    // @ts-expect-error -- no such field
    useAutoApiOptimisticUpdate(client, 'articles', 1, { titel: 'New' })
  })
})

describe('a dry run', () => {
  test('has a part of the record, or the number of affected rows', () => {
    expectTypeOf(valueOf(useAutoApiCreate('articles', { dryRun: true }))).toEqualTypeOf<Partial<Article>>()
    expectTypeOf(valueOf(useAutoApiDelete('articles', { dryRun: true }))).toEqualTypeOf<Affected>()
    expectTypeOf(valueOf(useAutoApiMutation('articles', 'bulkDelete', { dryRun: true }))).toEqualTypeOf<BulkAffected>()
    expectTypeOf(valueOf(useAutoApiDelete('articles', { dryRun: true })).affected.articles).toEqualTypeOf<number | undefined>()
    useAutoApiDelete('articles', {
      dryRun: true,
      onSuccess: ({ affected }) => expectTypeOf(affected.writers).toEqualTypeOf<number | undefined>(),
    })
    // @ts-expect-error no resource has this name
    useAutoApiDelete('articles', { dryRun: true, onSuccess: ({ affected }) => affected.nothing })
  })

  test('has both responses if the option is known only later', () => {
    const dryRun = ref(false)
    expectTypeOf(valueOf(useAutoApiDelete('articles', { dryRun: dryRun.value }))).toEqualTypeOf<Affected | Deletion>()
    expectTypeOf(valueOf(useAutoApiDelete('articles', { dryRun: false }))).toEqualTypeOf<Deletion>()
  })

  test('is not optimistic', () => {
    useAutoApiUpdate('articles', { optimistic: true })
    // @ts-expect-error a dry run changes no cached record
    useAutoApiUpdate('articles', { dryRun: true, optimistic: true })
  })

  test('of links has their counts', () => {
    expectTypeOf(valueOf(useAutoApiRelationAdd('articles', 'labels', { dryRun: true }))).toEqualTypeOf<LinkResponse>()
  })
})

describe('`include` of a write', () => {
  test('adds the related records to the response', () => {
    const included = { include: { articles: { fields: ['title'] } } } as const
    expectTypeOf(valueOf(useAutoApiUpdate('writers', included)).articles).toEqualTypeOf<{ title: string }[]>()
    expectTypeOf(valueOf(useAutoApiBulkUpdate('writers', included)).data[0]!.articles[0]!.title).toEqualTypeOf<string>()
    expectTypeOf(valueOf(useAutoApiMutation('writers', 'update', { include: { articles: true } })).articles[0]!.id).toEqualTypeOf<number>()
    const { data } = useAutoApiCreate('articles', { include: { writer: true }, onSuccess: ({ writer }) => void writer?.id })
    expectTypeOf(data.value!.title).toEqualTypeOf<string>()
    expectTypeOf(data.value!.writer!.id).toEqualTypeOf<number>()
    expectTypeOf(valueOf(useAutoApiUpdate('articles', { ifMatch: true }))).toEqualTypeOf<Article>()
    // @ts-expect-error -- no such relation
    useAutoApiUpdate('articles', { include: { authors: true } })
    // @ts-expect-error -- a delete answers no record
    useAutoApiDelete('articles', { include: { writer: true } })
  })
})

describe('`onConflict`', () => {
  test('names fields of a create, and a bulk counts the records of both kinds', () => {
    useAutoApiCreate('articles', { onConflict: 'title' })
    useAutoApiCreate('labels', { onConflict: ['name', 'colour'], dryRun: true })
    useAutoApiMutation('articles', 'create', { onConflict: ['title'] })
    const { data } = useAutoApiBulkCreate('labels', { onConflict: 'name', onSuccess: ({ meta }) => expectTypeOf(meta.created).toEqualTypeOf<number | undefined>() })
    expectTypeOf(data.value?.meta.updated).toEqualTypeOf<number | undefined>()
    // @ts-expect-error -- no such field
    useAutoApiCreate('articles', { onConflict: 'titel' })
    // @ts-expect-error -- no such field
    useAutoApiBulkCreate('articles', { onConflict: ['title', 'nothing'] })
    // @ts-expect-error -- the database generates the key
    useAutoApiCreate('articles', { onConflict: 'id' })
  })

  test('belongs to creates only', () => {
    // @ts-expect-error -- an update names its record by the id
    useAutoApiUpdate('articles', { onConflict: 'title' })
    // @ts-expect-error -- an update names its record by the id
    useAutoApiBulkUpdate('articles', { onConflict: 'title' })
    // @ts-expect-error -- an update names its record by the id
    useAutoApiMutation('articles', 'update', { onConflict: 'title' })
    // @ts-expect-error -- a delete names its record by the id
    useAutoApiDelete('articles', { onConflict: 'title' })
  })
})

describe('`ifMatch`', () => {
  test('is true or the tag of one record, and the error has the current record', () => {
    const update = useAutoApiUpdate('articles', {
      ifMatch: true,
      onError: error => expectTypeOf(error.current).toEqualTypeOf<Article | undefined>(),
    })
    expectTypeOf(update.error.value?.current).toEqualTypeOf<Article | undefined>()
    useAutoApiDelete('articles', { ifMatch: '"a"' })
    useAutoApiRestore('articles', { ifMatch: ref<string>() })
    useAutoApiPurge('articles', { ifMatch: () => autoApiTag(update.data.value) })
    useAutoApiMutation('articles', 'update', { ifMatch: true })
    // @ts-expect-error -- a new record has no tag
    useAutoApiCreate('articles', { ifMatch: true })
    // @ts-expect-error -- a tag is text
    useAutoApiUpdate('articles', { ifMatch: 7 })
  })

  test('of a batch is true, and each entry can have a tag', () => {
    useAutoApiBulkUpdate('articles', { ifMatch: true }).mutate([{ id: 1, data: {}, ifMatch: '"a"' }])
    useAutoApiBulkDelete('articles').mutate([1, { id: 2, ifMatch: '"a"' }])
    useAutoApiRestore('articles').mutate({ ids: [1, { id: 2, ifMatch: '"a"' }] })
    // @ts-expect-error -- several records do not have the same tag
    useAutoApiBulkUpdate('articles', { ifMatch: '"a"' })
  })
})

describe('a relation', () => {
  test('is a list of its target resource', () => {
    const labels = useAutoApiRelation('articles', 1, 'labels', { fields: ['name'], sort: 'name' })
    expectTypeOf(valueOf(labels).data).toEqualTypeOf<{ name: string }[]>()
    const related = useAutoApiRelation('articles', 1, 'labels', { includeMetadata: true })
    expectTypeOf(valueOf(related).data[0]!._junction).toEqualTypeOf<Record<string, unknown>>()
    const { mutate, data } = useAutoApiRelationAdd('articles', 'labels')
    mutate({ id: 1, ids: [1, 2], metadata: { position: 1 } })
    mutate({ id: 1, ids: [1, 2], metadataById: { 2: { position: 1 } } })
    // @ts-expect-error -- the metadata of a link is an object
    mutate({ id: 1, ids: [1, 2], metadataById: { 2: 1 } })
    expectTypeOf(data.value).toEqualTypeOf<LinkResponse | undefined>()
  })

  test('must be to-many', () => {
    // @ts-expect-error -- one writer is included, not listed
    useAutoApiRelation('articles', 1, 'writer')
    // @ts-expect-error -- no such field of a label
    useAutoApiRelation('articles', 1, 'labels', { sort: 'title' })
  })
})

describe('an operation that a resource disables', () => {
  test('does not compile, but the others do', () => {
    useAutoApiUpdate('notices').mutate({ id: 1, title: 'New' })
    useAutoApiRestore('notices').mutate(1)
    useAutoApiMutation('notices', 'bulkUpdate').mutate([{ id: 1, data: { title: 'New' } }])
    useAutoApiCreate('replies').mutate({ noticeId: 1, body: 'Thanks.' })
    useAutoApiDelete('replies').mutate(1)
    // @ts-expect-error -- delete is disabled
    useAutoApiDelete('notices')
    // @ts-expect-error -- bulk delete is disabled
    useAutoApiBulkDelete('notices')
    // @ts-expect-error -- purge is disabled
    useAutoApiPurge('notices')
    // @ts-expect-error -- the action is disabled
    useAutoApiMutation('notices', 'bulkDelete')
    // @ts-expect-error -- read is disabled, so there is no list
    useAutoApiList('replies')
    // @ts-expect-error -- read is disabled, so there is no get
    useAutoApiGet('replies', 1)
    // @ts-expect-error -- aggregate is disabled
    useAutoApiAggregate('replies')
    // @ts-expect-error -- update is disabled
    useAutoApiUpdate('replies')
    // @ts-expect-error -- a resource whose read is disabled cannot be included
    useAutoApiList('notices', { include: { replies: true } })
  })
})

describe('a view', () => {
  test('has the values of its columns and of its expressions', () => {
    expectTypeOf(valueOf(useAutoApiGet('writerTotals', 1))).toEqualTypeOf<{
      writerId: number
      name: string
      organizationId: number | null
      lastTitle: string | null
      articles: number
      reads: string
      latest: string
      busy: boolean
    }>()
    useAutoApiList('writerTotals', { filter: { articles: { $gt: 3 }, busy: true, name: { $like: 'a' } }, sort: '-latest' })
    // @ts-expect-error -- no such column
    useAutoApiList('writerTotals', { fields: ['secret'] })
    // @ts-expect-error -- a count is a number
    useAutoApiList('writerTotals', { filter: { articles: 'many' } })
  })

  test('has relations to and from other resources', () => {
    const { data } = valueOf(useAutoApiList('writerTotals', { fields: ['reads'], include: { writer: { fields: ['name'] } } }))
    expectTypeOf(data[0]!.writer).toEqualTypeOf<{ name: string } | null>()
    const writers = valueOf(useAutoApiList('writers', { include: { writerTotals: { fields: ['articles'] } } }))
    expectTypeOf(writers.data[0]!.writerTotals).toEqualTypeOf<{ articles: number } | null>()
  })

  test('has no writes', () => {
    // @ts-expect-error -- nobody can create a row of a view
    useAutoApiCreate('writerTotals')
    // @ts-expect-error -- nobody can update a row of a view
    useAutoApiUpdate('writerTotals')
    // @ts-expect-error -- nobody can delete a row of a view
    useAutoApiDelete('writerTotals')
    // @ts-expect-error -- nobody can delete rows of a view
    useAutoApiMutation('writerTotals', 'bulkDelete')
    // @ts-expect-error -- nobody can restore a row of a view
    useAutoApiRestore('writerTotals')
    // @ts-expect-error -- nobody can purge a row of a view
    useAutoApiPurge('writerTotals')
    // @ts-expect-error -- this registration disables aggregate too
    useAutoApiAggregate('writerTotals')
  })
})

describe('permissions', () => {
  test('know operations, fields and the permissions of a record', () => {
    const { can, canField } = useAutoApiPermissions('articles')
    expectTypeOf(can('viewDeleted')).toEqualTypeOf<boolean>()
    expectTypeOf(canField('title', 'write')).toEqualTypeOf<boolean>()
    // @ts-expect-error -- no such operation
    can('list')
    // @ts-expect-error -- no such field
    canField('titel', 'write')
    const records = useAutoApiRecordPermissions('articles', [1, 2])
    expectTypeOf(records.can(1, 'update')).toEqualTypeOf<boolean>()
    // @ts-expect-error -- a permission of the resource, not of a record
    records.can(1, 'create')
  })
})

describe('the schema', () => {
  test('knows the fields and relations of a registered resource, and describes a resource by any name', () => {
    const { resource, data } = useAutoApiSchema({ resources: ['articles'] })
    const articles = resource('articles')!
    expectTypeOf(articles.fields.title!.operators).toEqualTypeOf<readonly OperatorName[]>()
    expectTypeOf(articles.relations.writer!.target).toEqualTypeOf<string>()
    expectTypeOf(articles.fields.title).toEqualTypeOf<DescribedField | undefined>()
    expectTypeOf<keyof typeof articles.fields>().toEqualTypeOf<keyof Article>()
    expectTypeOf(resource('writers')!.fields).not.toHaveProperty('secret')
    const name: string = 'articles'
    expectTypeOf(resource(name)).toEqualTypeOf<DescribedResource | undefined>()
    expectTypeOf(data.value!.limits.pagination.maxLimit).toEqualTypeOf<number>()
    expectTypeOf<GlobalResponses['schema']>().toEqualTypeOf<ApiDescription>()
  })
})

describe('the audit log and the feed', () => {
  test('have entries of known types', () => {
    const history = useAutoApiHistory('articles', 1, { kind: 'update' })
    const { mutate: revert } = useAutoApiRevert('articles')
    const undo = () => revert(history.data.value!.data[0]!)
    expectTypeOf(undo).returns.toBeVoid()
    expectTypeOf(history.data.value!.data[0]!).toEqualTypeOf<AutoApiAuditEntry>()
    expectTypeOf(useAutoApiRevert('articles').data.value).toEqualTypeOf<Article | undefined>()
    expectTypeOf(useAutoApiActivity({ limit: 5 }).data.value!.data[0]!).toEqualTypeOf<AutoApiActivityEntry>()
    expectTypeOf(useAutoApiActivityInfinite().data.value!.pages[0]!.meta.nextCursor).toEqualTypeOf<string | null>()
    expectTypeOf(useAutoApiHistoryInfinite('articles', 1).data.value!.pages[0]!.data[0]!).toEqualTypeOf<AutoApiAuditEntry>()
    // @ts-expect-error -- no such parameter
    useAutoApiAuditLog({ resorce: 'articles' })
    // @ts-expect-error -- no such resource
    useAutoApiHistory('artciles', 1)
  })
})

describe('the app\'s own requests', () => {
  test('to generated routes are typed for `$fetch`', async () => {
    const list = await $fetch('/api/articles')
    expectTypeOf(list.data[0]!).toEqualTypeOf<Article>()
    const one = await $fetch('/api/articles/1')
    expectTypeOf(one).toEqualTypeOf<Article>()
    const gone = await $fetch('/api/articles/1', { method: 'DELETE' })
    expectTypeOf(gone).toEqualTypeOf<Deletion>()
  })

  test('to its endpoints are typed by their handlers, as a query or a mutation', () => {
    const report = useAutoApiEndpoint('/api/report', { resources: ['articles'] })
    expectTypeOf(valueOf(report)).toEqualTypeOf<{ lines: string[], at: string }>()
    const queue = useAutoApiEndpoint('/api/report', { method: 'POST', resources: ['articles'] })
    expectTypeOf(queue.data.value).toEqualTypeOf<{ queued: true } | undefined>()
    queue.mutate()
    const id = ref(1)
    const publish = useAutoApiEndpoint(() => `/api/articles/${id.value}/publish`, { method: 'POST' })
    expectTypeOf(publish.data.value).toEqualTypeOf<{ published: number } | undefined>()
    const unknown = useAutoApiEndpoint('/api/nowhere')
    expectTypeOf(unknown.data.value).toEqualTypeOf<unknown>()
    // @ts-expect-error -- no such resource
    useAutoApiEndpoint('/api/report', { resources: ['artciles'] })
  })
})

describe('an export', () => {
  test('takes a list query without pages, and the form of the file', () => {
    const { mutate, mutateAsync, progress } = useAutoApiExport('articles')
    mutate({
      filter: { status: 'draft' },
      sort: '-id',
      fields: ['id', 'title'],
      include: { writer: true },
      format: 'csv',
      separator: ';',
      bom: true,
    })
    expectTypeOf(mutateAsync).returns.resolves.toEqualTypeOf<File>()
    expectTypeOf(progress.value).toEqualTypeOf<{ readonly bytes: number, readonly records: number, readonly total: number } | undefined>()
    // @ts-expect-error -- an export has no pages
    mutate({ page: 1 })
    // @ts-expect-error -- no such format
    mutate({ format: 'xlsx' })
    // @ts-expect-error -- no such field
    mutate({ fields: ['colour'] })
  })
})

describe('an import', () => {
  test('takes a file, and has its problems by line', () => {
    const { mutate, mutateAsync, problems } = useAutoApiImport('articles', { dryRun: true })
    mutate({ file: new Blob(), mode: 'upsert', key: 'id', separator: ';' })
    expectTypeOf(mutateAsync).returns.resolves.toEqualTypeOf<{
      readonly data: { readonly created: number, readonly updated: number }
      readonly meta: { readonly total: number }
    }>()
    expectTypeOf(problems.value[0]!.line).toBeNumber()
    // @ts-expect-error -- no such mode
    mutate({ file: new Blob(), mode: 'merge' })
    // @ts-expect-error -- no such resource
    useAutoApiImport('nothing')
  })
})

describe('a batch', () => {
  const { mutate, mutateAsync, error } = useAutoApiBatch({ onSuccess: ({ data, meta }) => void [data[0]?.id, meta.steps] })

  test('takes steps with the bodies of each resource, in which each value can be a reference', () => {
    mutate([
      { resource: 'articles', operation: 'create', data: { title: 'x', createdAt: '2026-01-01T00:00:00.000Z' }, as: 'article' },
      { resource: 'ratings', operation: 'create', data: { articleId: { $ref: 'article.id' }, writerId: 1, stars: 5 } },
      { resource: 'articles', operation: 'update', id: { $ref: 'article.id' }, data: { title: 'y' }, ifMatch: '"a"' },
      { resource: 'articles', operation: 'restore', id: 2, as: 'restored' },
      { resource: 'labels', operation: 'delete', id: 3, ifMatch: '*' },
    ])
    expectTypeOf(mutateAsync).returns.resolves.toEqualTypeOf<{
      readonly data: readonly Readonly<Record<string, unknown>>[]
      readonly meta: { readonly steps: number }
    }>()
    expectTypeOf(error.value!.errors[0]!.step).toEqualTypeOf<number | undefined>()
  })

  test('refuses what no step can have', () => {
    // @ts-expect-error -- no such resource
    mutate([{ resource: 'nothing', operation: 'delete', id: 1 }])
    // @ts-expect-error -- no such operation
    mutate([{ resource: 'labels', operation: 'purge', id: 1 }])
    // @ts-expect-error -- no such field
    mutate([{ resource: 'labels', operation: 'update', id: 1, data: { nam: 'x' } }])
    // @ts-expect-error -- a value of another type
    mutate([{ resource: 'articles', operation: 'update', id: 1, data: { title: 1 } }])
    // @ts-expect-error -- a required field is missing
    mutate([{ resource: 'labels', operation: 'create', data: { name: 'x' } }])
    // @ts-expect-error -- a field that the caller cannot send
    mutate([{ resource: 'articles', operation: 'update', id: 1, data: { views: 1 } }])
    // @ts-expect-error -- a delete has no name
    mutate([{ resource: 'labels', operation: 'delete', id: 1, as: 'label' }])
    // @ts-expect-error -- an update needs an id
    mutate([{ resource: 'labels', operation: 'update', data: { name: 'x' } }])
    // @ts-expect-error -- a disabled operation: nothing can write a view
    mutate([{ resource: 'writerTotals', operation: 'delete', id: 1 }])
  })
})

describe('files', () => {
  test('are uploaded to fields that contain files', () => {
    const { mutate, mutateAsync, progress, error } = useAutoApiUpload('albums', 'cover', {
      ifMatch: true,
      onSuccess: album => void album.cover?.width,
    })
    mutate({ id: 1, file: new Blob(), name: 'a.png' })
    expectTypeOf(mutateAsync).returns.resolves.toEqualTypeOf<AutoApiRecord<'albums'>>()
    expectTypeOf(progress.value?.sent).toEqualTypeOf<number | undefined>()
    expectTypeOf(error.value?.current).toEqualTypeOf<AutoApiRecord<'albums'> | undefined>()
    useAutoApiUpload('albums', 'photos')
    // @ts-expect-error -- a text column
    useAutoApiUpload('albums', 'title')
    // @ts-expect-error -- JSON of any kind
    useAutoApiUpload('albums', 'notes')
    // @ts-expect-error -- a hidden field
    useAutoApiUpload('albums', 'original')
    // @ts-expect-error -- a resource without files
    useAutoApiUpload('articles', 'layout')
    // @ts-expect-error -- its updates are disabled
    useAutoApiUpload('scans', 'file')
    // @ts-expect-error -- without the file
    mutate({ id: 1 })
  })

  test('are removed, one or all', () => {
    const { mutate } = useAutoApiFileRemove('albums', 'photos')
    mutate(1)
    mutate({ id: 1, key: 'a' })
    // @ts-expect-error -- its updates are disabled
    useAutoApiFileRemove('scans', 'file')
  })

  test('have addresses', () => {
    const { data } = useAutoApiGet('albums', 1)
    const cover = useAutoApiFile('albums', 'cover')(data.value)
    expectTypeOf(cover?.url).toEqualTypeOf<string | undefined>()
    expectTypeOf(cover).extract<object>().toExtend<AutoApiStoredFile>()
    expectTypeOf(useAutoApiFile('albums', 'photos')(data.value)![0]!.downloadUrl).toBeString()
    useAutoApiFile('scans', 'file')({ file: null })
    // @ts-expect-error -- a list has no address
    expectTypeOf(useAutoApiFile('albums', 'photos')(data.value)?.url).toBeAny()
    // @ts-expect-error -- a text column
    useAutoApiFile('albums', 'title')
  })
})

describe('live signals', () => {
  test('name the resource and the record', () => {
    const { status, error } = useAutoApiLive(['articles', 'writers'], (signal) => {
      expectTypeOf(signal.resource).toEqualTypeOf<'articles' | 'writers'>()
      if (signal.event === 'reset') expectTypeOf(signal.id).toEqualTypeOf<undefined>()
      else expectTypeOf(signal.id).toEqualTypeOf<string>()
    })
    expectTypeOf(status.value).toEqualTypeOf<'connecting' | 'open' | 'polling' | 'closed'>()
    expectTypeOf(error.value).toEqualTypeOf<AutoApiError | null>()
    useAutoApiLive(() => 'labels', ({ resource }) => expectTypeOf(resource).toEqualTypeOf<'labels'>())
    useAutoApiLive('articles' as string, ({ resource }) => expectTypeOf(resource).toEqualTypeOf<string>())
    // @ts-expect-error -- no such resource
    useAutoApiLive('artciles', () => {})
    // @ts-expect-error -- nobody can read the resource
    useAutoApiLive('replies', () => {})
  })
})
