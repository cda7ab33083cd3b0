import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { createTestApi } from 'nuxt-auto-api/testing'

const client = new Database(':memory:')
client.exec(`
  create table posts (
    id integer primary key autoincrement, organization_id integer not null, author_id integer not null, title text not null,
    margin integer, deleted_at integer, deleted_by integer, deletion_id text, deleted_reason text
  );
  insert into posts (organization_id, author_id, title, margin, deleted_at, deletion_id) values
    (1, 2, 'Own', 4711, null, null), (1, 9, 'Of a colleague', null, null, null), (2, 3, 'Of another organization', null, null, null),
    (1, 2, 'Deleted', null, 1700000000000, 'd1');
`)

export const api = await createTestApi({
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
