/** `useAutoApiBatch`: the request, what it refetches, and the errors of the steps. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openClientServer, type ClientServer } from '../../../support/client-server'

let harness: ClientServer

beforeEach(async () => {
  // Loaded with the server, so that both have the same errors.
  harness = await openClientServer({ prefix: '/data/v2', plugins: [async () => (await import('../../../../src/runtime/plugins')).batch()] })
})
afterEach(() => harness.close())

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the resources of this test are not in the generated types
type Loose = Record<string, (...args: any[]) => any>
const use = () => harness.composables as unknown as Loose
const batch = (options?: object) => harness.setup(() => use().useAutoApiBatch!(options))
const list = async (resource: string) => {
  const query = harness.setup(() => use().useAutoApiList!(resource, {}))
  await query.suspense()
  return query
}

const STEPS = [
  { resource: 'articles', operation: 'create', data: { title: 'New' }, as: 'article' },
  { resource: 'remarks', operation: 'create', data: { articleId: { $ref: 'article.id' }, body: 'First' } },
]

it('sends the steps in one request, and refetches every resource that they write before `onSuccess`', async () => {
  const [articles, labels] = [await list('articles'), await list('labels')]
  harness.requests.length = 0
  const seen: unknown[] = []
  const { mutateAsync } = batch({ onSuccess: () => void seen.push(articles.data.value.data.length) })
  const { data, meta } = await mutateAsync(STEPS)
  expect([data.map(({ title, body }: { title?: string, body?: string }) => title ?? body), data[1].articleId, meta])
    .toEqual([['New', 'First'], data[0].id, { steps: 2 }])
  expect(harness.requests).toEqual(['POST /data/v2/batch', 'GET /data/v2/articles'])
  expect([seen, labels.data.value.data.length]).toEqual([[6], 2])
})

it('also refetches the dependents of a record that it deletes', async () => {
  const remarks = await list('remarks')
  harness.requests.length = 0
  await batch().mutateAsync([{ resource: 'articles', operation: 'delete', id: 1 }])
  expect([harness.requests, remarks.data.value.data]).toEqual([['POST /data/v2/batch', 'GET /data/v2/remarks'], []])
})

it('names the steps that failed', async () => {
  const { mutateAsync, error } = batch()
  const steps = [...STEPS, { resource: 'articles', operation: 'update', id: 77, data: { title: 'x' } }]
  await expect(mutateAsync(steps)).rejects.toMatchObject({ name: 'AutoApiError', status: 404, code: 'BULK_FAILED' })
  expect(error.value.errors).toMatchObject([{ step: 2, index: 2, statusCode: 404, code: 'NOT_FOUND' }])
})

it('refetches nothing after a dry run', async () => {
  await list('articles')
  harness.requests.length = 0
  const { data } = await batch({ dryRun: true }).mutateAsync(STEPS)
  expect([data.length, harness.requests]).toEqual([2, ['POST /data/v2/batch?dryRun=true']])
})

it('sends a key for each `mutate` with `idempotencyKey`', async () => {
  const { mutateAsync } = batch({ idempotencyKey: true })
  await mutateAsync(STEPS).catch(() => {})
  await mutateAsync(STEPS).catch(() => {})
  expect([new Set(harness.keys).size, harness.keys.every(key => key !== undefined)]).toEqual([2, true])
})
