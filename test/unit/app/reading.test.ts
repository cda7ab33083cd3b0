/** The reading composables: pages, errors, ids and the prefix. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ref } from 'vue'
import { openClientServer, type ClientServer } from '../../support/client-server'

let harness: ClientServer

beforeEach(async () => {
  harness = await openClientServer()
})

afterEach(() => harness.close())

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the names of the test's own resources are not those of the types
type Loose = Record<string, (...args: any[]) => any>
const use = () => harness.composables as unknown as Loose

describe('an infinite list', () => {
  it('starts with the empty cursor and ends after the last page, with every row once', async () => {
    const list = harness.setup(() => use().useAutoApiInfinite!('articles', { sort: '-title', limit: 2, fields: ['id', 'title'] }))
    await list.suspense()
    expect(harness.requests[0]).toBe('GET /v1/articles?sort=-title&limit=2&fields=id,title&cursor=')
    while (list.hasNextPage.value) await list.fetchNextPage()
    const { pages } = list.data.value
    expect(pages.flatMap(({ data }: { data: { title: string }[] }) => data.map(({ title }) => title))).toEqual([
      'Two',
      'Three',
      'One',
      'Four',
      'Five',
    ])
    expect(pages.map(({ meta }: { meta: { hasMore: boolean } }) => meta.hasMore)).toEqual([true, true, false])
    expect(harness.requests).toHaveLength(3)
  })

  it('is one empty page without rows', async () => {
    const list = harness.setup(() => use().useAutoApiInfinite!('articles', { filter: { title: 'None' } }))
    await list.suspense()
    expect(list.data.value.pages).toEqual([{ data: [], meta: { limit: 20, hasMore: false, nextCursor: null } }])
    expect(list.hasNextPage.value).toBe(false)
  })
})

describe('a record', () => {
  it('is requested once its id is set', async () => {
    const id = ref<number | null>(null)
    const record = harness.setup(() => use().useAutoApiGet!('articles', id))
    // Who waits for it meanwhile does not wait for ever.
    await record.suspense()
    expect(harness.requests).toEqual([])
    id.value = 2
    await expect.poll(() => record.data.value?.title, { interval: 1 }).toBe('Two')
  })

  it('is the same record for an id as text and as a number', async () => {
    const [text, number] = harness.setup(() => [use().useAutoApiGet!('articles', '1'), use().useAutoApiGet!('articles', () => 1)])
    await Promise.all([text.suspense(), number.suspense()])
    expect(harness.requests).toEqual(['GET /v1/articles/1'])
    expect(text.data.value).toBe(number.data.value)
  })

  it('of a composite key is found by its values, each encoded on its own', async () => {
    const record = harness.setup(() => use().useAutoApiGet!('shelves', 'a%2Cb,c%2Fd'))
    await record.suspense()
    expect(record.data.value).toEqual({ hall: 'a,b', row: 'c/d', note: null })
  })

  it('of a composite key is the same record when a route of the app has decoded its id', async () => {
    const [encoded, decoded] = harness.setup(() => [
      use().useAutoApiGet!('shelves', 'x,..%2F..%2Farticles%2F1'),
      use().useAutoApiGet!('shelves', 'x,../../articles/1'),
    ])
    await Promise.all([encoded.suspense(), decoded.suspense()])
    expect(harness.requests).toEqual(['GET /v1/shelves/x,../../articles/1'])
    expect(decoded.error.value).toMatchObject({ status: 404, code: 'NOT_FOUND', message: 'There is no such record.' })
  })

  it.each(['..', '.'])('is an error without a request when its id cannot be in a URL: %s', async (id) => {
    const record = harness.setup(() => use().useAutoApiGet!('articles', id))
    const removal = harness.setup(() => use().useAutoApiDelete!('articles'))
    await record.suspense()
    await expect(removal.mutateAsync(id)).rejects.toThrow(`The \`id\` "${id}" cannot be a segment of a URL.`)
    expect(record.error.value).toMatchObject({
      name: 'AutoApiError',
      status: 404,
      code: 'NOT_FOUND',
      message: `The \`id\` "${id}" cannot be a segment of a URL.`,
    })
    expect(harness.requests).toEqual([])
  })
})

describe('permissions', () => {
  it('are those of the caller by operation and field, and false until the response arrives', async () => {
    const may = harness.setup(() => use().useAutoApiPermissions!('articles'))
    expect(may.can('update')).toBe(false)
    await may.suspense()
    expect(['create', 'update', 'restore', 'viewDeleted'].map(may.can)).toEqual([true, true, true, true])
    expect([may.canField('views', 'write'), may.canField('views', 'read'), may.canField('title', 'write')]).toEqual([false, true, true])
  })

  it('of records are returned by id, also for an id with a comma', async () => {
    const records = harness.setup(() => use().useAutoApiRecordPermissions!('shelves', ['a%2Cb,c%2Fd', 'none,none']))
    await records.suspense()
    expect(records.can('a%2Cb,c%2Fd', 'update')).toBe(true)
    expect(records.can('none,none', 'update')).toBe(false)
    expect(records.can('never asked', 'read')).toBe(false)
  })

  it('of all resources come in one response', async () => {
    harness.caller = {}
    const all = harness.setup(() => use().useAutoApiPermissions!())
    await all.suspense()
    expect(harness.requests).toEqual(['GET /v1/permissions'])
    expect([all.can('articles', 'read'), all.can('articles', 'update'), all.can('nothing', 'read')]).toEqual([true, false, false])
  })
})

describe('the schema', () => {
  it('describes what the caller can use, and no resource until the response arrives', async () => {
    const schema = harness.setup(() => use().useAutoApiSchema!())
    expect(schema.resource('articles')).toBeUndefined()
    await schema.suspense()
    expect(harness.requests).toEqual(['GET /v1/_schema'])
    expect(schema.resource('articles')).toMatchObject({
      label: 'Articles',
      fields: { title: { kind: 'text', writable: { create: true, update: true } }, views: { writable: { create: false, update: false } } },
    })
    expect([schema.resource('nothing'), schema.resource('constructor')]).toEqual([undefined, undefined])
  })

  it('of some resources is requested by their names, anew when the names change', async () => {
    const names = ref(['labels', 'nothing'])
    const schema = harness.setup(() => use().useAutoApiSchema!({ resources: names }))
    await schema.suspense()
    expect(Object.keys(schema.data.value.resources)).toEqual(['labels'])
    names.value = ['writers']
    await vi.waitFor(() => expect(schema.resource('writers')).toMatchObject({ label: 'Writers' }))
    expect(harness.requests).toEqual(['GET /v1/_schema?resources=labels,nothing', 'GET /v1/_schema?resources=writers'])
  })

  it('is not requested again after a write', async () => {
    const schema = harness.setup(() => use().useAutoApiSchema!())
    await schema.suspense()
    await harness.setup(() => use().useAutoApiCreate!('labels')).mutateAsync({ name: 'x' })
    expect(harness.requests.filter(request => request.includes('_schema'))).toHaveLength(1)
  })
})

describe('an error', () => {
  it('has the API\'s status, code and message, and is not retried', async () => {
    const record = harness.setup(() => use().useAutoApiGet!('articles', 99))
    await record.suspense()
    expect(record.error.value).toBeInstanceOf(harness.composables.AutoApiError)
    expect(record.error.value).toMatchObject({
      status: 404,
      code: 'NOT_FOUND',
      message: 'There is no such record.',
      issues: [],
      fields: [],
      errors: [],
    })
    expect(harness.requests).toHaveLength(1)
  })

  it('of a body has messages by field, for a form', async () => {
    const create = harness.setup(() => use().useAutoApiCreate!('articles'))
    const error = await create.mutateAsync({ title: 'x'.repeat(41), writerId: 'me' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' })
    const messages = harness.composables.autoApiFormErrors(error)
    expect(messages.map(({ name }) => name).sort()).toEqual(['title', 'writerId'])
    expect(messages.every(({ message }) => message.length > 0)).toBe(true)
  })

  it.each([
    ['a field the caller cannot write', { title: 'x', views: 3 }, { status: 403, code: 'FIELD_FORBIDDEN', fields: ['views'] }, 'views'],
    [
      'a key that points at nothing',
      { title: 'x', writerId: 99 },
      { status: 400, code: 'INVALID_REFERENCE', fields: ['writerId'] },
      'writerId',
    ],
  ])('names its field: %s', async (_, body, expected, name) => {
    const create = harness.setup(() => use().useAutoApiCreate!('articles'))
    const error = await create.mutateAsync(body).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject(expected)
    expect(harness.composables.autoApiFormErrors(error)).toEqual([{ name, message: (error as Error).message }])
  })

  it('of a batch has one entry per failed item', async () => {
    const create = harness.setup(() => use().useAutoApiBulkCreate!('articles'))
    const error = await create.mutateAsync([{ title: 'good' }, { title: 'x'.repeat(41) }]).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 400, code: 'BULK_FAILED', errors: [{ index: 1, statusCode: 400 }] })
    expect(harness.composables.autoApiFormErrors(error)).toEqual([{ name: '1.title', message: expect.any(String) }])
  })

  it('is the same kind of object without a response', async () => {
    harness.refuseNext = { status: 500, body: '<h1>Bad gateway</h1>' }
    await expect(harness.setup(() => use().useAutoApiCreate!('articles')).mutateAsync({ title: 'x' })).rejects.toMatchObject({
      status: 500,
      code: 'UNEXPECTED',
    })
    expect(harness.composables.autoApiFormErrors(new TypeError('no answer'))).toEqual([])
  })
})

describe('the prefix', () => {
  it('is used for every kind of request', async () => {
    harness.close()
    harness = await openClientServer({ prefix: '/data/v2' })
    const app = use()
    await harness.setup(() => app.useAutoApiList!('articles')).suspense()
    await harness.setup(() => app.useAutoApiRelation!('articles', 1, 'labels')).suspense()
    await harness.setup(() => app.useAutoApiCreate!('labels')).mutateAsync({ name: 'x' })
    await harness.setup(() => app.useAutoApiDelete!('articles')).mutateAsync(5)
    expect(harness.requests.length).toBeGreaterThan(3)
    expect(harness.requests.filter(request => !request.split(' ')[1]!.startsWith('/data/v2/'))).toEqual([])
  })
})
