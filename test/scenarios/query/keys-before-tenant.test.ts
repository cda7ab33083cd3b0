/**
 * SQLite without statistics of ANALYZE, as most apps have it: statements with a list of keys find their rows by these keys. An index of the
 * tenant column would find all rows of the tenant.
 */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { createServer, type TestServer } from '../../support/server'

const id = () => ({ id: integer('id').primaryKey({ autoIncrement: true }), organizationId: integer('organization_id').notNull() })
const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })
const users = sqliteTable('users', { ...id(), name: text('name') })
const posts = sqliteTable('posts', {
  ...id(),
  authorId: integer('author_id')
    .notNull()
    .references(() => users.id),
  title: text('title').notNull(),
  ...trash(),
})
const comments = sqliteTable('comments', {
  ...id(),
  postId: integer('post_id')
    .notNull()
    .references(() => posts.id),
  body: text('body'),
  ...trash(),
})
const tags = sqliteTable('tags', { ...id(), name: text('name') })
const postTags = sqliteTable('post_tags', {
  organizationId: integer('organization_id').notNull(),
  postId: integer('post_id').notNull().references(() => posts.id),
  tagId: integer('tag_id').notNull().references(() => tags.id),
}, table => [primaryKey({ columns: [table.postId, table.tagId] })])
const tables = { users, posts, comments, tags, postTags }

/** Each table has the index that `nuxt-auto-api check` asks for: it begins with the tenant column. */
const SCHEMA = `
  create table users (id integer primary key, organization_id integer not null, name text);
  create table posts (id integer primary key, organization_id integer not null, author_id integer not null references users(id), title text not null,
    deleted_at integer, deletion_id text);
  create table comments (id integer primary key, organization_id integer not null, post_id integer not null references posts(id), body text,
    deleted_at integer, deletion_id text);
  create table tags (id integer primary key, organization_id integer not null, name text);
  create table post_tags (organization_id integer not null, post_id integer not null references posts(id), tag_id integer not null references tags(id),
    primary key (post_id, tag_id));
  create index users_tenant on users (organization_id);
  create index posts_tenant on posts (organization_id);
  create index posts_author on posts (author_id);
  create index posts_group on posts (deletion_id);
  create index comments_tenant on comments (organization_id, id);
  create index comments_post on comments (post_id);
  create index comments_group on comments (deletion_id);
  create index tags_tenant on tags (organization_id);
  create index post_tags_tenant on post_tags (organization_id);
  create index post_tags_tag on post_tags (tag_id);
  insert into users values (1, 1, 'Ann');
  insert into posts (id, organization_id, author_id, title) values (1, 1, 1, 'one'), (2, 1, 1, 'two');
  insert into comments (id, organization_id, post_id, body) values (1, 1, 1, 'first');
  insert into tags values (1, 1, 'news'), (2, 1, 'sports');
  insert into post_tags values (1, 1, 1);
`

const REQUESTS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', 'posts/1?include=author,comments,tags'],
  ['GET', 'users/1?include=posts'],
  ['GET', 'tags/1?include=posts'],
  ['GET', 'posts?filter={"id":{"$in":[1,2]}}'],
  ['GET', 'posts/1/relations/comments'],
  ['GET', 'posts/1/relations/tags'],
  ['POST', 'comments', { postId: 1, body: 'second' }],
  ['POST', 'comments/bulk', { items: [{ postId: 1, body: 'third' }, { postId: 2, body: 'fourth' }] }],
  ['PATCH', 'posts/bulk', { items: [{ id: 1, data: { title: 'uno' } }, { id: 2, data: { title: 'due' } }] }],
  ['POST', 'posts/1/relations/tags', { ids: [2] }],
  ['PUT', 'posts/1/relations/tags', { ids: [1] }],
  ['DELETE', 'posts/1/relations/tags', { ids: [1] }],
  ['DELETE', 'posts/bulk', { ids: [1, 2] }],
  ['POST', 'posts/bulk/restore', { ids: [1, 2] }],
  ['DELETE', 'posts/2'],
  ['POST', 'posts/2/restore'],
  ['DELETE', 'posts/2?force=true'],
]

describe('without statistics, a list of keys comes before the tenant', () => {
  let server: TestServer
  const plans: [text: string, plan: string][] = []

  beforeAll(async () => {
    const client = new Database(':memory:')
    client.exec(SCHEMA)
    const logQuery = (text: string, values: unknown[]) => {
      const rows = client.prepare<unknown[], { detail: string }>(`explain query plan ${text}`).all(...values)
      plans.push([text, rows.map(({ detail }) => detail).join('\n')])
    }
    const permissions = { read: true, create: true, update: true, delete: true }
    server = await createServer({
      db: drizzle({ client, schema: tables, logger: { logQuery } }), engine: 'better-sqlite3', modules: [tables],
      registrations: Object.entries(tables).map(([name, schema]) => ({ name, schema, authorization: { permissions } })),
      config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    })
  })

  it.each(REQUESTS.map(([method, path, body]) => ({ method, path, body })))('$method $path', async ({ method, path, body }) => {
    plans.length = 0
    const { status } = await server.request(method, `/api/${path}`, { body, caller: { user: { id: 1, organizationId: 1 } } })
    expect(status).toBeLessThan(300)
    expect(plans).not.toEqual([])
    expect(plans.filter(([, plan]) => /_tenant\b|^SCAN (?:users|posts|comments|tags|post_tags)$/m.test(plan))).toEqual([])
  })

  it('a list without keys still uses the index of the tenant', async () => {
    plans.length = 0
    await server.request('GET', '/api/comments?count=none', { caller: { user: { id: 1, organizationId: 1 } } })
    expect(plans.map(([, plan]) => plan)).toEqual(['SEARCH comments USING INDEX comments_tenant (organization_id=?)'])
  })
})
