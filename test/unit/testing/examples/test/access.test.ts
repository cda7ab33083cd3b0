import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { createTestApi, expectAccess, expectNoLeaks } from 'nuxt-auto-api/testing'
import { beforeAll, expect, it } from 'vitest'

const client = new Database(':memory:')

const openApi = () => createTestApi({
  resources: { posts: () => import('../server/resources/posts') },
  database: drizzle({ client }),
  engine: 'better-sqlite3',
  multiTenancy: {},
  callers: {
    anonymous: { tenantId: 1 },
    reader: { user: { id: 1, organizationId: 1 } },
    editor: { user: { id: 2, organizationId: 1 }, permissions: ['editor'] },
    stranger: { user: { id: 3, organizationId: 2 }, permissions: ['editor'] },
  },
})

let api: Awaited<ReturnType<typeof openApi>>

beforeAll(async () => {
  client.exec(`
    create table posts (
      id integer primary key autoincrement, organization_id integer not null, author_id integer not null, title text not null,
      margin integer, deleted_at integer, deleted_by integer, deletion_id text, deleted_reason text
    );
    insert into posts (organization_id, author_id, title, margin, deleted_at, deletion_id) values
      (1, 2, 'Own', 4711, null, null), (1, 9, 'Of a colleague', null, null, null), (2, 3, 'Of another organization', null, null, null),
      (1, 2, 'Deleted', null, 1700000000000, 'd1');
  `)
  api = await openApi()
})

it('gives each caller the expected access', async () => {
  await expectAccess(api)
    .rows({ posts: { own: 1, foreign: 2, otherTenant: 3, trashed: 4 } })
    .toMatchMatrix(new URL('access.md', import.meta.url))
})

it('does not disclose rows of other organizations and margins', async () => {
  await expectNoLeaks(api, {
    as: ['anonymous', 'reader'],
    rows: { posts: [3] },
    fields: { posts: ['margin'] },
    secrets: ['Of another organization', 4711],
  })
})

it('creates a post for an editor', async () => {
  const { status, body } = await api.as('editor').post<{ title: string }>('/posts?dryRun=true', { authorId: 2, title: 'New' })
  expect([status, body.title]).toEqual([201, 'New'])
  const refused = await api.as('reader').post('/posts', { authorId: 1, title: 'New' })
  expect([refused.status, refused.code]).toEqual([403, 'FORBIDDEN'])
})
