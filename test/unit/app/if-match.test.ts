/** Composables with `ifMatch`: they send the tag of the record that the page holds, and offer the current record if it has changed. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ref } from 'vue'
import { openClientServer, type ClientServer } from '../../support/client-server'

let harness: ClientServer

beforeEach(async () => {
  harness = await openClientServer()
})
afterEach(() => harness.close())

/** The resources of this test are not in the generated types. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
type Loose = Record<string, (...args: any[]) => any>
const use = () => harness.composables as unknown as Loose
const setup = <T>(run: (app: Loose) => T): T => harness.setup(() => run(use()))
const tagOf = (record: unknown) => harness.composables.autoApiTag(record)

/** A page that shows article 1. */
async function openArticle(query?: object) {
  const article = setup(app => app.useAutoApiGet!('articles', 1, query))
  await article.suspense()
  return article
}

/** Somebody else changes an article. */
const changeElsewhere = (id: number, title: string) =>
  setup(app => app.useAutoApiEndpoint!(`/v1/articles/${id}`, { method: 'PATCH' }).mutateAsync({ title }))
const failure = (promise: Promise<unknown>) => promise.then(() => {
  throw new Error('The write succeeded.')
}, (error: InstanceType<ClientServer['composables']['AutoApiError']>) => error)

describe('`ifMatch: true`', () => {
  it('writes the record that the page shows, again and again', async () => {
    const article = await openArticle()
    const update = setup(app => app.useAutoApiUpdate!('articles', { ifMatch: true }))
    for (const title of ['a', 'b', 'c']) expect((await update.mutateAsync({ id: 1, title })).title).toBe(title)
    expect(article.data.value.title).toBe('c')
  })

  it('refuses to overwrite a change, and has the current record in the error', async () => {
    await openArticle()
    await changeElsewhere(1, 'Theirs')
    let seen: unknown
    const update = setup(app => app.useAutoApiUpdate!('articles', { ifMatch: true, onError: (error: unknown) => void (seen = error) }))
    const error = await failure(update.mutateAsync({ id: 1, title: 'Mine' }))
    expect(error).toMatchObject({ status: 412, code: 'PRECONDITION_FAILED', current: { id: 1, title: 'Theirs' } })
    expect(error).toBeInstanceOf(harness.composables.AutoApiError)
    expect(seen).toBe(error)
    expect(update.error.value).toBe(error)
  })

  it('fails again until the page has read the record, or passes the tag of the current record', async () => {
    const article = await openArticle()
    await changeElsewhere(1, 'Theirs')
    const update = setup(app => app.useAutoApiUpdate!('articles', { ifMatch: true }))
    for (let attempt = 0; attempt < 2; attempt++) expect((await failure(update.mutateAsync({ id: 1, title: 'Mine' }))).status).toBe(412)
    await article.refetch()
    await update.mutateAsync({ id: 1, title: 'Mine' })

    await changeElsewhere(1, 'Theirs again')
    const tag = ref(tagOf(article.data.value))
    const byTag = setup(app => app.useAutoApiUpdate!('articles', { ifMatch: tag }))
    const { current } = await failure(byTag.mutateAsync({ id: 1, title: 'Mine again' }))
    tag.value = tagOf(current)
    expect((await byTag.mutateAsync({ id: 1, title: 'Mine again' })).title).toBe('Mine again')
  })

  it('rolls an optimistic change back', async () => {
    const article = await openArticle()
    await changeElsewhere(1, 'Theirs')
    const update = setup(app => app.useAutoApiUpdate!('articles', { ifMatch: true, optimistic: true }))
    const titles: unknown[] = []
    harness.queryClient.getQueryCache().subscribe(({ query }) => titles.push((query.state.data as { title?: string } | undefined)?.title))
    expect((await failure(update.mutateAsync({ id: 1, title: 'Mine' }))).status).toBe(412)
    expect(titles).toContain('Mine')
    expect(titles.at(-1)).toBe('One')
    await article.refetch()
    expect((await update.mutateAsync({ id: 1, title: 'Mine' })).title).toBe('Mine')
  })

  it('works with a narrowed record, and with the oldest of several that are shown', async () => {
    await openArticle({ fields: ['title'] })
    const update = setup(app => app.useAutoApiUpdate!('articles', { ifMatch: true }))
    await update.mutateAsync({ id: 1, title: 'a' })
    await changeElsewhere(1, 'Theirs')
    await openArticle({ include: { writer: true } })
    expect((await failure(update.mutateAsync({ id: 1, title: 'Mine' }))).status).toBe(412)
  })

  it('keeps the tag if a refetch returns an equal record', async () => {
    const article = await openArticle({ fields: ['id'] })
    const { value } = article.data
    await changeElsewhere(1, 'Theirs')
    await article.refetch()
    expect(article.data.value).toBe(value)
    await setup(app => app.useAutoApiUpdate!('articles', { ifMatch: true })).mutateAsync({ id: 1, title: 'Mine' })
  })

  it('fails without a request if no get holds the record', async () => {
    const list = setup(app => app.useAutoApiList!('articles', {}))
    await list.suspense()
    harness.requests.length = 0
    for (const send of [
      () => setup(app => app.useAutoApiUpdate!('articles', { ifMatch: true })).mutateAsync({ id: 1, title: 'x' }),
      () => setup(app => app.useAutoApiDelete!('articles', { ifMatch: true })).mutateAsync(1),
      () => setup(app => app.useAutoApiBulkDelete!('articles', { ifMatch: true })).mutateAsync([1]),
      () => setup(app => app.useAutoApiUpdate!('articles', { ifMatch: () => undefined })).mutateAsync({ id: 1, title: 'x' }),
      () => setup(app => app.useAutoApiRestore!('articles', { ifMatch: true })).mutateAsync({ deletionId: 'd' }),
    ]) expect(await failure(send())).toMatchObject({ status: 428, code: 'PRECONDITION_REQUIRED' })
    expect(harness.requests).toEqual([])
  })

  it.each(['useAutoApiDelete', 'useAutoApiPurge'])('compares the tag of %s', async (name) => {
    await openArticle()
    await changeElsewhere(1, 'Theirs')
    const remove = setup(app => app[name]!('articles', { ifMatch: true }))
    expect(await failure(remove.mutateAsync(1))).toMatchObject({ status: 412, current: { title: 'Theirs' } })
    await setup(app => app.useAutoApiGet!('articles', 1)).refetch()
    expect(await remove.mutateAsync(1)).toMatchObject({ success: true })
  })

  it('compares the tag of a restore', async () => {
    await setup(app => app.useAutoApiDelete!('articles')).mutateAsync(1)
    await openArticle({ onlyDeleted: true })
    const restored = await setup(app => app.useAutoApiRestore!('articles', { ifMatch: true })).mutateAsync(1)
    expect(restored).toMatchObject({ id: 1, deletedAt: null })
    expect(tagOf(restored)).toMatch(/^"[\w-]{16}"$/)
  })

  it('compares the tags of batches', async () => {
    await openArticle()
    const second = setup(app => app.useAutoApiGet!('articles', 2))
    await second.suspense()
    const update = setup(app => app.useAutoApiBulkUpdate!('articles', { ifMatch: true }))
    await update.mutateAsync([{ id: 1, data: { title: 'a' } }, { id: 2, data: { title: 'b' } }])
    await changeElsewhere(2, 'Theirs')
    expect(
      await failure(
        update.mutateAsync([
          { id: 1, data: { title: 'c' } },
          { id: 2, data: { title: 'd' } },
        ]),
      ),
    ).toMatchObject({ status: 412, errors: [{ index: 1, code: 'PRECONDITION_FAILED' }] })
    const ids = [1, { id: 3, ifMatch: '*' }]
    expect((await setup(app => app.useAutoApiBulkDelete!('articles', { ifMatch: true })).mutateAsync(ids)).meta.total).toBe(2)
  })
})

describe('without `ifMatch`', () => {
  it('a write sends no tag and overwrites', async () => {
    await openArticle()
    await changeElsewhere(1, 'Theirs')
    expect((await setup(app => app.useAutoApiUpdate!('articles')).mutateAsync({ id: 1, title: 'Mine' })).title).toBe('Mine')
  })
})

describe('autoApiTag', () => {
  it('is that of the server for records of gets and writes, and undefined for others', async () => {
    const article = await openArticle()
    expect(tagOf(article.data.value)).toMatch(/^"[\w-]{16}"$/)
    const created = await setup(app => app.useAutoApiCreate!('labels')).mutateAsync({ name: 'x' })
    expect(tagOf(created)).toMatch(/^"[\w-]{16}"$/)
    const list = setup(app => app.useAutoApiList!('articles', {}))
    await list.suspense()
    for (const other of [list.data.value, list.data.value.data[0], { ...article.data.value }, 'text', null, undefined])
      expect(tagOf(other)).toBeUndefined()
  })
})
