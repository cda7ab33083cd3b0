/** The types of forms: the values of their inputs, their results, and wrong names that do not compile. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe, expectTypeOf, test } from 'vitest'
import { ref, type ComputedRef, type Ref } from 'vue'
import {
  useAutoApiColumns,
  useAutoApiForm,
  useAutoApiList,
  type AutoApiError,
  type AutoApiFormState,
  type AutoApiRecord,
} from '../../support/composables'
import type { FormError } from '../../../src/runtime/app/error'

interface Article {
  writerId?: number | null
  title?: string
  status?: 'draft' | 'published'
  featured?: boolean
  reads?: string | number | null
  price?: string | number | null
  layout?: { columns: number } | null
  publishedAt?: string | null
  createdAt?: string
}

describe('a form', () => {
  test('has the values of its inputs in their wire format, all of them optional', () => {
    const { state } = useAutoApiForm('articles')
    expectTypeOf(state).toEqualTypeOf<Article>()
    expectTypeOf<AutoApiFormState<'articles'>>().toEqualTypeOf<Article>()
  })

  test('has the values of a schema of the registration', () => {
    expectTypeOf(useAutoApiForm('labels').state).toEqualTypeOf<{ name?: string, colour?: 'red' | 'blue' }>()
  })

  test('has a Standard Schema of its state', () => {
    expectTypeOf(useAutoApiForm('articles').schema).toEqualTypeOf<StandardSchemaV1<Article, Article>>()
  })

  test('has typed results', () => {
    const form = useAutoApiForm('articles', {
      id: ref<number>(),
      defaults: { title: 'New' },
      onSuccess: record => expectTypeOf(record).toEqualTypeOf<AutoApiRecord<'articles'>>(),
    })
    expectTypeOf(form.submit).returns.toEqualTypeOf<Promise<AutoApiRecord<'articles'> | undefined>>()
    expectTypeOf(form.record).toEqualTypeOf<ComputedRef<AutoApiRecord<'articles'> | undefined>>()
    expectTypeOf(form.conflict).toEqualTypeOf<Readonly<Ref<AutoApiRecord<'articles'> | undefined>>>()
    expectTypeOf(form.error).toEqualTypeOf<ComputedRef<AutoApiError<AutoApiRecord<'articles'>> | null>>()
    expectTypeOf(form.errors).toEqualTypeOf<ComputedRef<FormError[]>>()
    expectTypeOf(form.changes).toEqualTypeOf<ComputedRef<Article>>()
  })

  test('accepts an id, a ref and a getter', () => {
    const route = { params: { id: '1' as string | undefined } }
    useAutoApiForm('articles', { id: 1 })
    useAutoApiForm('articles', { id: ref('1') })
    useAutoApiForm('articles', { id: () => route.params.id })
  })

  test('of a resource, with fields and defaults that do not exist does not compile', () => {
    // @ts-expect-error -- no such resource
    useAutoApiForm('artciles')
    // @ts-expect-error -- no such field
    useAutoApiForm('articles', { defaults: { titel: 'x' } })
    // @ts-expect-error -- a number is no title
    useAutoApiForm('articles', { defaults: { title: 1 } })
    const { state, errorOf } = useAutoApiForm('articles')
    // @ts-expect-error -- no such field
    errorOf('titel')
    // @ts-expect-error -- the server sets it
    void state.views
    // @ts-expect-error -- the state holds the wire format
    state.publishedAt = new Date()
  })
})

describe('columns', () => {
  test('have the names of their fields, and give the parameters of a list', () => {
    const { columns, fields, sort } = useAutoApiColumns('articles', { fields: ['title', 'status'], sort: '-publishedAt' })
    expectTypeOf(columns.value[0]!.id).toEqualTypeOf<'title' | 'status'>()
    useAutoApiList('articles', () => ({ fields: fields.value, sort: sort.value }))
  })

  test('can be of a to-one relation', () => {
    const { columns, fields, include, sort } = useAutoApiColumns('articles', { fields: ['title', 'writer.name'], sort: '-writer.name' })
    expectTypeOf(columns.value[0]!.id).toEqualTypeOf<'title' | 'writer.name'>()
    useAutoApiList('articles', () => ({ fields: fields.value, include: include.value, sort: sort.value }))
  })

  test('of fields that do not exist, and orders by JSON do not compile', () => {
    // @ts-expect-error -- no such field of the relation
    useAutoApiColumns('articles', { fields: ['writer.title'] })
    // @ts-expect-error -- several records have no column
    useAutoApiColumns('articles', { fields: ['labels.name'] })
    // @ts-expect-error -- no such field
    useAutoApiColumns('articles', { fields: ['titel'] })
    // @ts-expect-error -- the field is hidden
    useAutoApiColumns('writers', { fields: ['secret'] })
    // @ts-expect-error -- JSON has no order
    useAutoApiColumns('articles', { sort: '-layout' })
    // @ts-expect-error -- nobody can read replies
    useAutoApiColumns('replies')
  })
})

describe('the children of a form', () => {
  test('have the values of their inputs, without the foreign key', () => {
    const { state, children } = useAutoApiForm('notices', { id: 1, nested: { replies: { position: 'id' } } })
    expectTypeOf(state).toEqualTypeOf<{ title?: string }>()
    expectTypeOf(children).toHaveProperty('replies')
    expectTypeOf(children.replies.rows[0]!.values).toEqualTypeOf<{ body?: string }>()
    expectTypeOf(children.replies.rows[0]!.record).toEqualTypeOf<AutoApiRecord<'replies'> | undefined>()
    children.replies.add({ body: 'First' })
  })

  test('are none without the option', () => {
    const form = useAutoApiForm('notices')
    expectTypeOf<keyof typeof form['children']>().toEqualTypeOf<never>()
    expectTypeOf(form).toHaveProperty('children')
  })

  test('of relations, fields and values that do not exist do not compile', () => {
    // @ts-expect-error -- no such relation
    useAutoApiForm('notices', { nested: { reply: true } })
    // @ts-expect-error -- the bodies of articles contain no children
    useAutoApiForm('articles', { nested: { labels: true } })
    // @ts-expect-error -- no such field of a reply
    useAutoApiForm('notices', { nested: { replies: { position: 'rank' } } })
    const { children } = useAutoApiForm('notices', { nested: { replies: true } })
    // @ts-expect-error -- no such field
    children.replies.add({ text: 'First' })
    // @ts-expect-error -- the server sets the foreign key
    children.replies.add({ body: 'First', noticeId: 1 })
    // @ts-expect-error -- no such field
    children.replies.rows[0]!.errorOf('text')
  })
})
