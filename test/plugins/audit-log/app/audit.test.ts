/** The composables of the audit log and of the activity feed. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openClientServer, type ClientServer } from '../../../support/client-server'

let harness: ClientServer

beforeEach(async () => {
  harness = await openClientServer({ audited: true })
  harness.caller = { user: { id: 1 }, permissions: ['edit', 'activity:read'] }
})

afterEach(() => harness.close())

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the names of the test's own resources are not those of the types
type Loose = Record<string, (...args: any[]) => any>
const use = () => harness.composables as unknown as Loose

const update = (title: string) => harness.setup(() => use().useAutoApiUpdate!('articles')).mutateAsync({ id: 1, title })

it('reads the log, the history of a record and the feed, and refetches them after a write', async () => {
  await update('Uno')
  const [log, history, feed] = harness.setup(() => [
    use().useAutoApiAuditLog!({ resource: 'articles' }), use().useAutoApiHistory!('articles', 1), use().useAutoApiActivity!({ limit: 5 }),
  ])
  await Promise.all([log.suspense(), history.suspense(), feed.suspense()])
  expect(harness.requests.slice(1).sort()).toEqual([
    'GET /v1/activity?limit=5',
    'GET /v1/articles/1/history',
    'GET /v1/audit-log?resource=articles',
  ])
  expect(log.data.value.data).toEqual(history.data.value.data)
  expect(feed.data.value.data).toMatchObject([{ verb: 'updated', actor: { id: '1', label: 'Ada' }, label: 'Uno', count: 1 }])
  await update('Due')
  expect(feed.data.value.data).toMatchObject([{ label: 'Due', count: 2 }])
  expect(log.data.value.meta.total).toBe(2)
})

it('reads the lists by cursor', async () => {
  for (const title of ['a', 'b', 'c']) await update(title)
  const log = harness.setup(() => use().useAutoApiAuditLogInfinite!({ limit: 2 }))
  const history = harness.setup(() => use().useAutoApiHistoryInfinite!('articles', 1, { limit: 2 }))
  const feed = harness.setup(() => use().useAutoApiActivityInfinite!())
  for (const list of [log, history, feed]) {
    await list.suspense()
    while (list.hasNextPage.value) await list.fetchNextPage()
  }
  const titles = (list: typeof log) =>
    list.data.value.pages.flatMap(({ data }: { data: { after: { title: string } }[] }) => data.map(({ after }) => after.title))
  expect(titles(log)).toEqual(['c', 'b', 'a'])
  expect(titles(history)).toEqual(['c', 'b', 'a'])
  expect(feed.data.value.pages).toMatchObject([{ data: [{ count: 3 }] }])
})

it('reverts a record, and refetches its responses', async () => {
  await update('Uno')
  await update('Due')
  const [record, history] = harness.setup(() => [use().useAutoApiGet!('articles', 1), use().useAutoApiHistory!('articles', 1)])
  await Promise.all([record.suspense(), history.suspense()])
  const revert = harness.setup(() => use().useAutoApiRevert!('articles'))
  expect(await revert.mutateAsync(history.data.value.data[1])).toMatchObject({ title: 'Uno' })
  expect(harness.requests.some(request => request.startsWith('POST /v1/audit-log/'))).toBe(true)
  expect(record.data.value.title).toBe('Uno')
  expect(history.data.value.data).toHaveLength(3)
  await expect(revert.mutateAsync({ id: '..' })).rejects.toMatchObject({ status: 404 })
})

it('sends no request for a record without an id', async () => {
  const history = harness.setup(() => use().useAutoApiHistory!('articles', undefined))
  await history.suspense()
  expect(harness.requests).toEqual([])
})
