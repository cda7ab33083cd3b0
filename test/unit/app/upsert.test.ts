/** Composables that create with `onConflict`: the request that they send, and what they refetch. */
import { integer, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openClientServer, type ClientServer } from '../../support/client-server'

const pages = sqliteTable('pages', {
  id: integer('id').primaryKey(), slug: text('slug').notNull(), locale: text('locale').notNull(), title: text('title'),
}, t => [unique('pages_slug').on(t.slug, t.locale)])

let harness: ClientServer
beforeEach(async () => {
  harness = await openClientServer({
    further: [{ name: 'pages', schema: pages, authorization: { permissions: { read: true, create: true, update: true } } }],
    sql: `create table pages (id integer primary key, slug text not null, locale text not null, title text, unique (slug, locale));
      insert into pages values (1, 'home', 'en', 'Home');`,
  })
})
afterEach(() => harness.close())

/** The resources of this test are not in the generated types. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
type Loose = Record<string, (...args: any[]) => any>
const setup = <T>(run: (app: Loose) => T): T => harness.setup(() => run(harness.composables as unknown as Loose))

it('name the fields in the query, and refetch the record that is shown', async () => {
  const page = setup(app => app.useAutoApiGet!('pages', 1))
  await page.suspense()
  const create = setup(app => app.useAutoApiCreate!('pages', { onConflict: ['slug', 'locale'] }))
  harness.requests.length = 0
  expect(await create.mutateAsync({ slug: 'home', locale: 'en', title: 'Start' })).toEqual({ id: 1, slug: 'home', locale: 'en', title: 'Start' })
  expect(harness.requests).toEqual(['POST /v1/pages?onConflict=slug,locale', 'GET /v1/pages/1'])
  expect(page.data.value.title).toBe('Start')
})

it('name one field as text, beside a dry run', async () => {
  const create = setup(app => app.useAutoApiCreate!('pages', { onConflict: 'slug', dryRun: true }))
  await expect(create.mutateAsync({ slug: 'home', locale: 'en' })).rejects.toMatchObject({ status: 400, code: 'INVALID_QUERY' })
  expect(harness.requests).toEqual(['POST /v1/pages?onConflict=slug&dryRun=true'])
})

it('count the records of a bulk', async () => {
  const create = setup(app => app.useAutoApiBulkCreate!('pages', { onConflict: ['slug', 'locale'] }))
  const { meta } = await create.mutateAsync([{ slug: 'home', locale: 'en', title: 'Start' }, { slug: 'home', locale: 'fr' }])
  expect(meta).toEqual({ total: 2, successful: 2, failed: 0, created: 1, updated: 1 })
  expect(harness.requests).toEqual(['POST /v1/pages/bulk?onConflict=slug,locale'])
})

it('send no parameter without the option', async () => {
  const create = setup(app => app.useAutoApiCreate!('pages'))
  await create.mutateAsync({ slug: 'new', locale: 'en' })
  expect(harness.requests).toEqual(['POST /v1/pages'])
})
