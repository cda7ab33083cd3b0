/** The option `include` of the writing composables: the request that they send, its response, and the cache. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openClientServer, type ClientServer } from '../../support/client-server'

const pages = sqliteTable('pages', { id: integer('id').primaryKey(), title: text('title').notNull() })
const blocks = sqliteTable('blocks', {
  id: integer('id').primaryKey(), pageId: integer('page_id').notNull().references(() => pages.id), text: text('text').notNull(),
})

let harness: ClientServer
beforeEach(async () => {
  const authorization = { permissions: { read: true, create: true, update: true } } as const
  harness = await openClientServer({
    further: [{ name: 'pages', schema: pages, authorization }, { name: 'blocks', schema: blocks, authorization }],
    sql: `create table pages (id integer primary key, title text not null);
      create table blocks (id integer primary key, page_id integer not null references pages, text text not null);
      insert into pages values (1, 'Home'); insert into blocks values (1, 1, 'a'), (2, 1, 'b');`,
  })
})
afterEach(() => harness.close())

/** The resources of this test are not in the generated types. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
type Loose = Record<string, (...args: any[]) => any>
const setup = <T>(run: (app: Loose) => T): T => harness.setup(() => run(harness.composables as unknown as Loose))

it('asks for the related records, and keeps a cached record without them as it is', async () => {
  const page = setup(app => app.useAutoApiGet!('pages', 1))
  await page.suspense()
  const update = setup(app => app.useAutoApiUpdate!('pages', { include: { blocks: { fields: ['text'] } }, optimistic: true }))
  harness.requests.length = 0
  expect(await update.mutateAsync({ id: 1, title: 'Start' })).toEqual({ id: 1, title: 'Start', blocks: [{ text: 'a' }, { text: 'b' }] })
  expect(harness.requests.map(decodeURIComponent)).toEqual(['PATCH /v1/pages/1?include={"blocks":{"fields":["text"]}}', 'GET /v1/pages/1'])
  expect(page.data.value).toEqual({ id: 1, title: 'Start' })
})

it('asks for those of several records', async () => {
  const create = setup(app => app.useAutoApiBulkCreate!('pages', { include: { blocks: true } }))
  const { data } = await create.mutateAsync([{ title: 'x' }, { title: 'y' }])
  expect(data.map(({ blocks }: { blocks: object[] }) => blocks)).toEqual([[], []])
})

it('is sent by creates and updates of any action', async () => {
  const update = setup(app => app.useAutoApiMutation!('pages', 'bulkUpdate', { include: { blocks: true } }))
  expect((await update.mutateAsync([{ id: 1, data: { title: 'x' } }])).data[0].blocks).toHaveLength(2)
})
