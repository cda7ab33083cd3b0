/** The examples of the docs page `views`, on Postgres in this process. */
import { PGlite } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { responseCache } from '../../../src/runtime/plugins'
import { toRegistrations } from '../../../src/runtime/testing/api/resources'
import { createTablesSql } from '../../support/create-tables'
import { createServer, type TestServer } from '../../support/server'
import * as tables from './examples/server/database/schema'
import * as views from './examples/server/database/views'
import * as materialized from './examples/server/database/writingDays'
import refresh from './examples/server/refreshViews'
import authorStats from './examples/server/resources/authorStats'
import writingDays from './examples/server/resources/writingDays'

const schema = { ...tables, ...views, ...materialized }

let client: PGlite
let server: TestServer
beforeAll(async () => {
  client = new PGlite()
  await client.exec((await createTablesSql('pg', schema)).replaceAll('--> statement-breakpoint', ''))
  await client.exec(`create unique index on writing_days (author_id, day);
    insert into users values (1, 'Ada'), (2, 'Bea');
    insert into posts values (1, 'one', 10, 1, '2026-01-01T10:00:00Z'), (2, 'two', 5, 1, '2026-01-01T11:00:00Z');
    refresh materialized view writing_days`)
  const authorization = { permissions: { read: true, create: true } } as const
  server = await createServer({
    db: drizzle({ client }),
    engine: 'postgres',
    modules: [schema],
    registrations: [
      ...await toRegistrations({ authorStats, writingDays }),
      { name: 'users', schema: schema.users, authorization },
      { name: 'posts', schema: schema.posts, authorization },
    ],
    plugins: [refresh, responseCache()],
  })
})
afterAll(() => client.close())

const read = async (path: string) => (await server.request('GET', `/api/${path}`)).body

it('lists the statistics of authors, and includes them in the users', async () => {
  expect(await read('authorStats/1?include=author')).toEqual({
    authorId: 1, name: 'Ada', posts: 2, views: 15, latestPost: '2026-01-01T11:00:00.000Z', author: { id: 1, name: 'Ada' },
  })
  expect((await read('users?sort=-id&include=authorStats[posts]')).data).toMatchObject([{ authorStats: { posts: 0 } }, { authorStats: { posts: 2 } }])
})

it('has the new rows of a materialized view after the task, although earlier ones are stored', async () => {
  const read = async () => (await server.request('GET', '/api/writingDays')).body.data
  const before = [{ authorId: 1, day: '2026-01-01', posts: 2 }]
  expect([await read(), await read()]).toEqual([before, before])
  await client.exec(`insert into posts values (3, 'three', 0, 2, '2026-01-02T00:00:00Z')`)
  expect(await read()).toEqual(before)
  await refresh.tasks!.writingDays!.run({ due: new Date() } as never)
  expect(await read()).toEqual([...before, { authorId: 2, day: '2026-01-02', posts: 1 }])
})
