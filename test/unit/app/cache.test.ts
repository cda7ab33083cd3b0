/** Cached responses after a write: exactly the stale ones are refetched, and optimistic updates are shown at once. */
import { setTimeout } from 'node:timers/promises'
import type { InfiniteData } from '@tanstack/vue-query'
import { integer, sqliteView } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openClientServer, type ClientServer } from '../../support/client-server'

let harness: ClientServer

beforeEach(async () => {
  harness = await openClientServer({ extended: true })
})

afterEach(() => harness.close())

/** The resources of this test are not in the generated types. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
type Loose = Record<string, (...args: any[]) => any>
const use = () => harness.composables as unknown as Loose

/** Composables of a page, by the request that each sends. */
async function openScreen() {
  const app = use()
  const screen = harness.setup(() => ({
    articles: app.useAutoApiList!('articles', { page: 1 }),
    withWriter: app.useAutoApiList!('articles', { include: { writer: true } }),
    endless: app.useAutoApiInfinite!('articles', { limit: 2 }),
    article: app.useAutoApiGet!('articles', 1),
    count: app.useAutoApiAggregate!('articles', { aggregate: ['count'] }),
    writers: app.useAutoApiList!('writers', { include: { articles: { include: { labels: true } } } }),
    writer: app.useAutoApiGet!('writers', 1),
    remarks: app.useAutoApiList!('remarks', {}),
    labels: app.useAutoApiList!('labels', {}),
    labelsOf: app.useAutoApiRelation!('articles', 1, 'labels'),
    may: app.useAutoApiPermissions!('articles'),
    byWriter: app.useAutoApiList!('articles', { filter: { $or: [{ writer: { name: 'x' } }] }, fields: ['id'] }),
    labelled: app.useAutoApiList!('writers', { fields: ['id'], filter: { articles: { labels: null } } }),
    busy: app.useAutoApiList!('writers', { fields: ['id'], filter: { articles: { $count: { $gte: 1 } } } }),
    unlabelled: app.useAutoApiList!('articles', { fields: ['id'], filter: { $not: { $or: [{ labels: { $count: { $gt: 0 } } }] } } }),
    sorted: app.useAutoApiList!('articles', { sort: ['-writer.name', 'id'], fields: ['id'] }),
    ranked: app.useAutoApiList!('writers', { sort: '-articles.$count', fields: ['id'] }),
    counted: app.useAutoApiList!('writers', { counts: ['articles'], fields: ['id'] }),
    articleCounts: app.useAutoApiGet!('articles', 3, { include: { writer: { counts: ['articles'] } }, counts: ['labels'] }),
    shelves: app.useAutoApiList!('shelves', {}),
    stats: app.useAutoApiEndpoint!('/v1/articles?fields=id', { resources: ['articles'] }),
  }))
  await Promise.all(Object.values(screen).map(({ suspense }) => suspense()))
  harness.requests.length = 0
  return screen
}

const OF = {
  'articles': 'GET /v1/articles?page=1',
  'withWriter': 'GET /v1/articles?include={"writer":true}',
  'endless': 'GET /v1/articles?limit=2&cursor=',
  'article 1': 'GET /v1/articles/1',
  'count': 'GET /v1/articles/aggregate?aggregate=count',
  'writers with articles': 'GET /v1/writers?include={"articles":{"include":{"labels":true}}}',
  'writer 1': 'GET /v1/writers/1',
  'remarks': 'GET /v1/remarks',
  'labels': 'GET /v1/labels',
  'articles by writer': 'GET /v1/articles?filter={"$or":[{"writer":{"name":"x"}}]}&fields=id',
  'writers by label': 'GET /v1/writers?fields=id&filter={"articles":{"labels":null}}',
  'writers by number of articles': 'GET /v1/writers?fields=id&filter={"articles":{"$count":{"$gte":1}}}',
  'articles by number of labels': 'GET /v1/articles?fields=id&filter={"$not":{"$or":[{"labels":{"$count":{"$gt":0}}}]}}',
  'articles sorted by writer': 'GET /v1/articles?sort=-writer.name,id&fields=id',
  'writers sorted by articles': 'GET /v1/writers?sort=-articles.$count&fields=id',
  'writers with numbers of articles': 'GET /v1/writers?counts=articles&fields=id',
  'article 3 with numbers': 'GET /v1/articles/3?include={"writer":{"counts":["articles"]}}&counts=labels',
  'labels of article 1': 'GET /v1/articles/1/relations/labels',
  'permissions': 'GET /v1/articles/permissions',
  'stats': 'GET /v1/articles?fields=id',
} as const

const ARTICLES = [
  'articles',
  'withWriter',
  'endless',
  'article 1',
  'count',
  'writers with articles',
  'labels of article 1',
  'stats',
  'articles by writer',
  'writers by label',
  'writers by number of articles',
  'articles by number of labels',
  'articles sorted by writer',
  'writers sorted by articles',
  'writers with numbers of articles',
  'article 3 with numbers',
] as const

const WRITES: readonly {
  readonly write: string
  readonly send: (app: Loose) => Promise<unknown>
  readonly again: readonly (keyof typeof OF)[]
}[] = [
  { write: 'creating an article', send: app => app.useAutoApiCreate!('articles').mutateAsync({ title: 'New' }), again: ARTICLES },
  { write: 'changing an article', send: app => app.useAutoApiUpdate!('articles').mutateAsync({ id: 2, title: 'New' }), again: ARTICLES },
  {
    write: 'changing a writer',
    send: app => app.useAutoApiUpdate!('writers').mutateAsync({ id: 1, name: 'Eve' }),
    again: [
      'withWriter', 'writers with articles', 'writer 1', 'articles by writer', 'writers by label', 'writers by number of articles',
      'writers with numbers of articles', 'article 3 with numbers', 'articles sorted by writer', 'writers sorted by articles',
    ],
  },
  {
    write: 'deleting an article, which takes its remarks along',
    send: app => app.useAutoApiDelete!('articles').mutateAsync({ id: 2, reason: 'old' }),
    again: [...ARTICLES, 'remarks'],
  },
  {
    write: 'deleting the article that is shown, whose own address would answer 404',
    send: app => app.useAutoApiDelete!('articles').mutateAsync(1),
    again: [...ARTICLES.filter(name => name !== 'article 1' && name !== 'labels of article 1'), 'remarks'],
  },
  {
    write: 'deleting several',
    send: app => app.useAutoApiBulkDelete!('articles').mutateAsync([1, 2]),
    again: [...ARTICLES.filter(name => name !== 'article 1' && name !== 'labels of article 1'), 'remarks'],
  },
  {
    write: 'changing several',
    send: app => app.useAutoApiBulkUpdate!('articles').mutateAsync([{ id: 1, data: { title: 'x' } }]),
    again: ARTICLES,
  },
  {
    write: 'creating several',
    send: app => app.useAutoApiBulkCreate!('labels').mutateAsync([{ name: 'x' }]),
    again: [
      'labels', 'labels of article 1', 'writers with articles', 'writers by label', 'articles by number of labels', 'article 3 with numbers',
    ],
  },
  {
    write: 'linking',
    send: app => app.useAutoApiRelationAdd!('articles', 'labels').mutateAsync({ id: 1, ids: [2] }),
    again: ['labels of article 1', 'writers with articles', 'writers by label', 'articles by number of labels', 'article 3 with numbers'],
  },
  {
    write: 'unlinking',
    send: app => app.useAutoApiRelationRemove!('articles', 'labels').mutateAsync({ id: 1, ids: [1] }),
    again: ['labels of article 1', 'writers with articles', 'writers by label', 'articles by number of labels', 'article 3 with numbers'],
  },
  {
    write: 'linking anew',
    send: app => app.useAutoApiRelationReplace!('articles', 'labels').mutateAsync({ id: 1, ids: [2] }),
    again: ['labels of article 1', 'writers with articles', 'writers by label', 'articles by number of labels', 'article 3 with numbers'],
  },
  {
    write: 'what an endpoint says it writes',
    send: app => app.useAutoApiEndpoint!('/v1/labels', { method: 'POST', resources: ['writers'] }).mutateAsync({ name: 'x' }),
    again: [
      'withWriter', 'writers with articles', 'writer 1', 'articles by writer', 'writers by label', 'writers by number of articles',
      'writers with numbers of articles', 'article 3 with numbers', 'articles sorted by writer', 'writers sorted by articles',
    ],
  },
]

describe('a write', () => {
  it.each(WRITES)('refetches exactly the stale responses before it resolves: $write', async ({ send, again }) => {
    await openScreen()
    await harness.setup(() => send(use()))
    const [write, ...reads] = harness.requests
    expect(write).not.toMatch(/^GET/)
    expect(reads.sort()).toEqual(again.map(name => OF[name]).sort())
  })

  it('requests the permissions on records once, those of the records that the list shows then', async () => {
    const app = use()
    const screen = harness.setup(() => {
      const list = app.useAutoApiList!('articles', { fields: ['id'], sort: '-id' })
      const ids = () => (list.data.value?.data ?? []).map(({ id }: { id: number }) => id)
      return { list, records: app.useAutoApiRecordPermissions!('articles', ids), all: app.useAutoApiPermissions!('articles') }
    })
    await Promise.all([screen.list.suspense(), screen.all.suspense()])
    await expect.poll(() => screen.records.can(5, 'update')).toBe(true)
    harness.requests.length = 0
    await harness.setup(() => use().useAutoApiUpdate!('articles').mutateAsync({ id: 5, title: 'x' }))
    expect(harness.requests).toEqual([
      'PATCH /v1/articles/5',
      'GET /v1/articles?fields=id&sort=-id',
      'GET /v1/articles/permissions?ids=5,4,3,2,1',
    ])
    harness.requests.length = 0
    await harness.setup(() => use().useAutoApiCreate!('articles').mutateAsync({ title: 'New' }))
    await expect.poll(() => screen.records.can(6, 'update')).toBe(true)
    expect(harness.requests).toEqual([
      'POST /v1/articles',
      'GET /v1/articles?fields=id&sort=-id',
      'GET /v1/articles/permissions?ids=6,5,4,3,2,1',
    ])
  })

  it('refetches the permissions on a resource when the next component needs them', async () => {
    const open = () => harness.setup(() => use().useAutoApiPermissions!('articles', { staleTime: Infinity }))
    await open().suspense()
    await harness.setup(() => use().useAutoApiCreate!('articles').mutateAsync({ title: 'New' }))
    expect(harness.requests).toEqual(['GET /v1/articles/permissions', 'POST /v1/articles'])
    const query = open()
    await expect.poll(() => query.fetchStatus.value).toBe('idle')
    expect(harness.requests).toHaveLength(3)
  })

  it('refetches restored dependents after a restore', async () => {
    await openScreen()
    const { deletionId } = await harness.setup(() => use().useAutoApiDelete!('articles').mutateAsync(2))
    harness.requests.length = 0
    await harness.setup(() => use().useAutoApiRestore!('articles').mutateAsync({ deletionId }))
    expect(harness.requests[0]).toBe('POST /v1/articles/bulk/restore')
    expect(harness.requests).toEqual(expect.arrayContaining([OF.articles, OF.remarks]))
    expect(harness.requests).not.toContain(OF.labels)
  })

  it('purges one record, several or a group by a delete with force', async () => {
    const purge = () => harness.setup(() => use().useAutoApiPurge!('articles'))
    await purge().mutateAsync(4)
    await purge().mutateAsync({ ids: [5] })
    expect(harness.requests).toEqual(['DELETE /v1/articles/4?force=true', 'DELETE /v1/articles/bulk?force=true'])
  })

  it('refetches nothing when it is refused', async () => {
    await openScreen()
    harness.caller = {}
    await expect(harness.setup(() => use().useAutoApiCreate!('articles').mutateAsync({ title: 'x' }))).rejects.toMatchObject({
      status: 401,
      code: 'UNAUTHENTICATED',
    })
    expect(harness.requests).toEqual(['POST /v1/articles'])
  })
})

describe('a write with a key', () => {
  it('sends a new key with each mutate, and the same key with its retries', async () => {
    const create = harness.setup(() => use().useAutoApiCreate!('articles', { idempotencyKey: true, retry: 2, retryDelay: 1 }))
    harness.refuseNext = { status: 503, body: { data: { code: 'BUSY' } } }
    await create.mutateAsync({ title: 'New' })
    await create.mutateAsync({ title: 'New' })
    const [first, retry, second] = harness.keys
    expect(first).toMatch(/^[0-9a-f]{32}$/)
    expect([retry, second === first]).toEqual([first, false])
    await harness.setup(() => use().useAutoApiCreate!('articles')).mutateAsync({ title: 'New' })
    expect(harness.keys[3]).toBeUndefined()
  })
})

describe('a dry run', () => {
  const RUNS: readonly (readonly [request: string, send: (app: Loose) => Promise<unknown>, response: unknown])[] = [
    [
      'POST /v1/articles?dryRun=true',
      app => app.useAutoApiCreate!('articles', { dryRun: true }).mutateAsync({ title: 'New' }),
      { title: 'New' },
    ],
    [
      'PATCH /v1/articles/1?dryRun=true',
      app => app.useAutoApiUpdate!('articles', { dryRun: true, optimistic: true }).mutateAsync({ id: 1, title: 'New' }),
      { id: 1, title: 'New' },
    ],
    [
      'DELETE /v1/articles/1?reason=old&dryRun=true',
      app => app.useAutoApiDelete!('articles', { dryRun: true }).mutateAsync({ id: 1, reason: 'old' }),
      { affected: { articles: 1, remarks: 2 } },
    ],
    [
      'DELETE /v1/articles/1?force=true&dryRun=true',
      app => app.useAutoApiPurge!('articles', { dryRun: true }).mutateAsync(1),
      { affected: { articles: 1, remarks: 2 } },
    ],
    [
      'DELETE /v1/articles/bulk?dryRun=true',
      app => app.useAutoApiBulkDelete!('articles', { dryRun: true }).mutateAsync([1, 2]),
      { affected: { articles: 2, remarks: 2 }, meta: { total: 2, successful: 2, failed: 0 } },
    ],
    [
      'POST /v1/articles/1/relations/labels?dryRun=true',
      app => app.useAutoApiRelationAdd!('articles', 'labels', { dryRun: true }).mutateAsync({ id: 1, ids: [2] }),
      { added: 1, removed: 0, total: 2 },
    ],
  ]

  it.each(RUNS)('changes and refetches nothing in the cache: %s', async (request, send, response) => {
    const { article } = await openScreen()
    const before = article.data.value
    expect(await harness.setup(() => send(use()))).toMatchObject(response as object)
    expect(harness.requests).toEqual([request])
    expect(article.data.value).toBe(before)
  })
})

describe('`confirm` of a preview', () => {
  it.each<readonly [request: string, send: (app: Loose, confirm: string) => Promise<unknown>]>([
    ['DELETE /v1/articles/1', (app, confirm) => app.useAutoApiDelete!('articles').mutateAsync({ id: 1, confirm })],
    ['DELETE /v1/articles/1?force=true', (app, confirm) => app.useAutoApiPurge!('articles').mutateAsync({ id: 1, confirm })],
    ['DELETE /v1/articles/bulk?force=true', (app, confirm) => app.useAutoApiPurge!('articles').mutateAsync({ ids: [1, 2], confirm })],
    ['DELETE /v1/articles/bulk', (app, confirm) => app.useAutoApiBulkDelete!('articles').mutateAsync({ ids: [1, 2], confirm })],
    ['POST /v1/articles/1/restore', (app, confirm) => app.useAutoApiRestore!('articles').mutateAsync({ id: 1, confirm })],
    ['POST /v1/articles/bulk/restore', (app, confirm) => app.useAutoApiRestore!('articles').mutateAsync({ ids: [1], confirm })],
  ])('is a parameter of %s', async (request, send) => {
    await harness.setup(() => send(use(), 'abc')).catch(() => {})
    expect(harness.requests[0]).toBe(`${request}${request.includes('?') ? '&' : '?'}confirm=abc`)
  })
})

describe('an optimistic update', () => {
  const change = (updates: object, id: string | number = 1) =>
    use().useAutoApiOptimisticUpdate!(harness.queryClient, 'articles', id, updates) as { rollback: () => void }

  it('changes the record at once in lists, infinite lists, single records and includes, without a request', async () => {
    const { articles, endless, article, writers, shelves } = await openScreen()
    const before = shelves.data.value
    change({ title: 'New' })
    expect(articles.data.value.data.map(({ title }: { title: string }) => title)).toEqual(['New', 'Two', 'Three', 'Four', 'Five'])
    expect((endless.data.value as InfiniteData<{ data: { title: string }[] }>).pages[0]!.data[0]!.title).toBe('New')
    expect(article.data.value.title).toBe('New')
    expect(writers.data.value.data[0].articles[0].title).toBe('New')
    expect(shelves.data.value).toBe(before)
    expect(harness.requests).toEqual([])
  })

  it('finds a record by its id as text, as a route passes it', async () => {
    const { article } = await openScreen()
    change({ title: 'New' }, '1')
    expect(article.data.value.title).toBe('New')
  })

  it('is rolled back exactly, in every response', async () => {
    const { articles, endless, article, writers } = await openScreen()
    const before = JSON.stringify([articles, endless, article, writers].map(({ data }) => data.value))
    const { rollback } = change({ title: 'New', writerId: 2 })
    expect(JSON.stringify([articles, endless, article, writers].map(({ data }) => data.value))).not.toBe(before)
    rollback()
    expect(JSON.stringify([articles, endless, article, writers].map(({ data }) => data.value))).toBe(before)
  })

  it('does not roll back fields that have changed again since', async () => {
    const { article } = await openScreen()
    const { rollback } = change({ title: 'New', writerId: 2 })
    change({ title: 'Newer' })
    rollback()
    expect(article.data.value).toMatchObject({ title: 'Newer', writerId: 1 })
  })

  it('adds no field that the query did not request', async () => {
    const list = harness.setup(() => use().useAutoApiList!('articles', { fields: ['id', 'views'] }))
    await list.suspense()
    change({ title: 'New', views: 9 })
    expect(list.data.value.data[0]).toEqual({ id: 1, views: 9 })
  })

  it('converts values as a response has them: a date is text', async () => {
    const { article } = await openScreen()
    change({ publishedAt: new Date(0) })
    expect(article.data.value.publishedAt).toBe('1970-01-01T00:00:00.000Z')
  })

  it('is not overwritten by a pending response', async () => {
    const { articles } = await openScreen()
    const refetching = articles.refetch()
    change({ title: 'New' })
    await refetching
    // By now it has arrived.
    await setTimeout(50)
    expect(articles.data.value.data[0].title).toBe('New')
  })

  it('finds a record of a composite key', async () => {
    const { shelves } = await openScreen()
    use().useAutoApiOptimisticUpdate!(harness.queryClient, 'shelves', 'a%2Cb,c%2Fd', { note: 'full' })
    expect(shelves.data.value.data[0].note).toBe('full')
  })

  it('of a mutation is confirmed by a success and rolled back by an error', async () => {
    const { article } = await openScreen()
    const update = harness.setup(() => use().useAutoApiUpdate!('articles', { optimistic: true }))
    await update.mutateAsync({ id: 1, title: 'New' })
    expect(article.data.value.title).toBe('New')

    harness.refuseNext = { status: 409, body: { message: 'Too late.', data: { code: 'CONFLICT' } } }
    const refused = update.mutateAsync({ id: 1, title: 'Newer' })
    await expect.poll(() => article.data.value.title, { interval: 1 }).toBe('Newer')
    await expect(refused).rejects.toMatchObject({ status: 409, code: 'CONFLICT', message: 'Too late.' })
    expect(article.data.value.title).toBe('New')
  })
})

describe('the caller\'s own callbacks', () => {
  it('run after the built-in ones, with the arguments of TanStack', async () => {
    const { article } = await openScreen()
    const seen: unknown[] = []
    const update = harness.setup(() =>
      use().useAutoApiUpdate!('articles', {
        optimistic: true,
        onMutate: () => 'mine',
        onSuccess: (answer: { title: string }, variables: object, context: string) =>
          seen.push(['success', answer.title, variables, context, article.data.value.title]),
        onError: (error: { code: string }, _: object, context: string) =>
          seen.push(['error', error.code, context, article.data.value.title]),
        onSettled: () => seen.push(['settled']),
      }),
    )
    await update.mutateAsync({ id: 1, title: 'New' })
    expect(seen).toEqual([['success', 'New', { id: 1, title: 'New' }, 'mine', 'New'], ['settled']])

    seen.length = 0
    harness.refuseNext = { status: 409, body: { message: 'x', data: { code: 'CONFLICT' } } }
    await update.mutateAsync({ id: 1, title: 'Newer' }).catch(() => {})
    expect(seen).toEqual([['error', 'CONFLICT', 'mine', 'New'], ['settled']])
  })
})

describe('a view', () => {
  const stats = sqliteView('stats', { id: integer('id').notNull(), articles: integer('articles') }).existing()
  const authorization = { permissions: { read: true } }
  /** The reads of the views that a write sends again. */
  async function readAgain(write: (app: Loose) => Promise<unknown>): Promise<string[]> {
    harness.close()
    harness = await openClientServer({
      further: [
        { name: 'stats', schema: stats, key: 'id', references: { id: 'writers' }, tracks: ['articles'], authorization },
        { name: 'untracked', schema: stats, key: 'id', authorization },
      ],
      sql: 'create view stats as select writer_id as id, count(*) as articles from articles where writer_id is not null group by writer_id;',
    })
    const app = use()
    const screen = harness.setup(() => ({
      stats: app.useAutoApiList!('stats', {}),
      included: app.useAutoApiList!('writers', { include: { stats: true } }),
      untracked: app.useAutoApiList!('untracked', {}),
    }))
    await Promise.all(Object.values(screen).map(({ suspense }) => suspense()))
    harness.requests.length = 0
    await harness.setup(() => write(app))
    await setTimeout(20)
    return harness.requests.filter(request => request.startsWith('GET')).toSorted()
  }
  const UNTRACKED = 'GET /v1/untracked'

  it('is read again after a write to a resource that it tracks', async () => {
    expect(await readAgain(app => app.useAutoApiCreate!('articles').mutateAsync({ title: 'New' })))
      .toEqual(['GET /v1/stats', UNTRACKED, 'GET /v1/writers?include={"stats":true}'])
  })

  it('is not read again after other writes, unless nothing says what it tracks', async () => {
    expect(await readAgain(app => app.useAutoApiCreate!('labels').mutateAsync({ name: 'New' }))).toEqual([UNTRACKED])
  })
})
