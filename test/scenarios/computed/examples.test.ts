/** The examples of the docs page `computed`. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { toRegistrations } from '../../../src/runtime/testing/api/resources'
import { createTablesSql } from '../../support/create-tables'
import { createServer, type TestServer } from '../../support/server'
import discussed from './examples/server/resources/discussed'
import posts from './examples/server/resources/posts'
import * as schema from './examples/server/database/schema'

const client = new Database(':memory:')
let server: TestServer
beforeAll(async () => {
  client.exec((await createTablesSql('sqlite', schema)).replaceAll('--> statement-breakpoint', ''))
  client.exec(`insert into posts values (1, 'one', 'three words here', 1000), (2, 'two', 'one', null);
    insert into comments values (1, 1, 'a', 1700000000000, null), (2, 1, 'b', 1700100000000, 1), (3, 1, 'c', 1700050000000, null)`)
  server = await createServer({
    db: drizzle(client),
    modules: [schema],
    registrations: [
      ...await toRegistrations({ posts, discussed }),
      { name: 'comments', schema: schema.comments, authorization: { permissions: { read: true } } },
    ],
  })
})
afterAll(() => client.close())

const read = async (path: string) => (await server.request('GET', `/api/${path}`)).body

it('counts words, and finds and sorts posts by them', async () => {
  expect(await read('posts/1')).toMatchObject({ title: 'one', wordCount: 3 })
  expect((await read('posts?filter={"wordCount":{"$gte":2}}&sort=-wordCount&fields=title,wordCount')).data).toEqual([{ title: 'one', wordCount: 3 }])
  expect((await read('posts/aggregate?groupBy=wordCount&aggregate=count')).data).toHaveLength(2)
})

it('counts the comments outside of the trash', async () => {
  expect(await read('discussed/1')).toEqual({
    id: 1, title: 'one', body: 'three words here', dueAt: '1970-01-01T00:00:01.000Z', commentCount: 2,
    lastComment: '2023-11-15T12:06:40.000Z', isOverdue: true,
  })
  expect(await read('discussed/2?fields=commentCount,isOverdue,html')).toEqual({ commentCount: 0, isOverdue: null, html: '<p>one</p>' })
})
