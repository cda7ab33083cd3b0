/** `createTestApi`: resources, callers, middleware and endpoints in this process, and the same API over HTTP. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { defineEventHandler, getHeader } from 'h3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, expectAccess } from '../../../src/runtime/testing'
import { serveApi, type ListeningApi } from '../../../src/runtime/testing/api/serve'
import { posts } from './examples/server/database/schema'
import definedPosts from './examples/server/resources/posts'

const client = new Database(':memory:')
client.exec(`create table posts (id integer primary key autoincrement, organization_id integer not null, author_id integer not null, title text not null,
  margin integer, deleted_at integer, deleted_by integer, deletion_id text, deleted_reason text);
  insert into posts (organization_id, author_id, title, margin) values (1, 2, 'Own', 4711), (1, 9, 'Foreign', 12);`)
const local = { database: drizzle({ client }), engine: 'better-sqlite3' } as const
const editor = { user: { id: 2 }, permissions: ['editor'] }

describe('in this process', () => {
  it('returns status, body, code and headers for each caller', async () => {
    const api = await createTestApi({ ...local, resources: { posts: definedPosts }, callers: { editor } })
    expect(api.callers).toEqual(['anonymous', 'editor'])
    const read = await api.as('editor').get<{ margin: number }>('/posts/1')
    expect([read.status, read.body.margin, read.code, read.headers.get('content-type')]).toEqual([200, 4711, undefined, 'application/json'])
    const refused = await api.as('anonymous').patch('/posts/1', { title: 'x' })
    expect([refused.status, refused.code]).toEqual([401, 'UNAUTHENTICATED'])
    const hidden = await api.as('editor').delete('/posts/2')
    expect([hidden.status, hidden.code]).toEqual([404, 'NOT_FOUND'])
  })

  it('answers the requests of several callers at the same time', async () => {
    const api = await createTestApi({ ...local, resources: { posts: definedPosts }, callers: { editor } })
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => api.as(index % 2 ? 'editor' : 'anonymous').get<object>('/posts/1')),
    )
    expect(responses.map(({ body }) => 'margin' in body)).toEqual(responses.map((_, index) => index % 2 === 1))
  })

  it('takes the name of a resource from its file, and provides the auto-import `defineResource`', async () => {
    const scope = globalThis as { defineResource?: (...args: unknown[]) => unknown }
    const api = await createTestApi({
      ...local,
      resources: {
        './server/resources/news.ts': async () => ({
          default: scope.defineResource!(posts, { permissions: { read: true }, hiddenFields: ['margin'] }),
        }),
      },
    })
    expect(scope.defineResource).toBeUndefined()
    expect(api.registered).toEqual(['news'])
    expect(Object.keys((await api.as('anonymous').get<object>('/news/1')).body)).not.toContain('margin')
  })

  it('writes filters as JSON and accepts a path with a query', async () => {
    const api = await createTestApi({ ...local, resources: { posts: definedPosts } })
    const { body } = await api
      .as('anonymous')
      .get<{ data: { id: number }[] }>('/posts?limit=1', { filter: { title: 'Foreign' }, page: undefined })
    expect(body.data).toMatchObject([{ id: 2 }])
  })

  it('runs the middleware of the app', async () => {
    const api = await createTestApi({
      ...local,
      resources: { posts: definedPosts },
      middleware: [defineEventHandler((event) => {
        if (getHeader(event, 'x-role')) event.context.permissions = [getHeader(event, 'x-role')!]
      })],
      callers: { byHeader: { headers: { 'x-role': 'editor' } } },
    })
    expect((await api.as('byHeader').get<object>('/posts/1')).body).toHaveProperty('margin')
  })

  it('has the prefix and the limits of the options', async () => {
    const api = await createTestApi({
      ...local,
      resources: { posts: definedPosts },
      config: { prefix: '/v1', pagination: { maxLimit: 1 } },
    })
    expect((await api.as('anonymous').get<{ data: unknown[] }>('/posts', { limit: 5 })).body.data).toHaveLength(1)
  })

  it('refuses a resource without a table', async () => {
    await expect(createTestApi({ ...local, resources: { posts: { default: {} } } })).rejects.toThrow(
      '[auto-api] createTestApi(): the resource `posts` has no table. Pass a resource of `defineResource(table, …)`',
    )
  })
})

describe('over HTTP', () => {
  let server: ListeningApi
  beforeAll(async () => {
    server = await (await serveApi({
      ...local, db: local.database,
      registrations: [{ name: 'posts', schema: posts, authorization: definedPosts.authorization as never }],
      middleware: [defineEventHandler((event) => {
        if (getHeader(event, 'x-user') === '2') Object.assign(event.context, editor)
      })],
    })).listen()
  })
  afterAll(() => server.close())

  it('has the same matrix as in this process', async () => {
    const rows = { posts: { own: 1, foreign: 2 } }
    const remote = await createTestApi({ url: server.url, callers: { editor: { headers: { 'x-user': '2' } } } })
    const matrix = await expectAccess(remote).rows(rows).toMarkdown()
    const inProcess = await createTestApi({ ...local, resources: { posts: definedPosts }, callers: { editor } })
    await expectAccess(inProcess).rows(rows).toMatchMatrix(matrix)
    expect(matrix).toContain('| update: foreign | 401 | 404 |')
  })
})
