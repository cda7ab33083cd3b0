/** A server whose relations can be counted in every way: with trash, tenants, row filters, rules in code, and links that occur twice. */
import Database from 'better-sqlite3'
import { eq, ne, sql, type SQL } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { AutoApiContext } from '../../../src/runtime/server/registration'
import { createServer, type TestServer } from '../../support/server'

const users = sqliteTable('users', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
  bossId: integer('boss_id').references((): AnySQLiteColumn => users.id),
})
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  authorId: integer('author_id').references(() => users.id),
  editorId: integer('editor_id').references(() => users.id),
  ghostId: integer('ghost_id').references(() => users.id),
  title: text('title').notNull(),
  deletedAt: integer('deleted_at', { mode: 'timestamp' }),
})
const comments = sqliteTable('comments', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  postId: integer('post_id').notNull().references(() => posts.id),
  status: text('status').notNull(),
  deletedAt: integer('deleted_at', { mode: 'timestamp' }),
})
const votes = sqliteTable('votes', {
  id: integer('id').primaryKey(),
  commentId: integer('comment_id').notNull().references(() => comments.id),
})
const secrets = sqliteTable('secrets', { id: integer('id').primaryKey(), postId: integer('post_id').references(() => posts.id) })
const vaults = sqliteTable('vaults', { id: integer('id').primaryKey(), postId: integer('post_id').references(() => posts.id) })
const coins = sqliteTable('coins', { id: integer('id').primaryKey(), vaultId: integer('vault_id').references(() => vaults.id) })
const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
const postTags = sqliteTable('post_tags', {
  postId: integer('post_id').notNull().references(() => posts.id),
  tagId: integer('tag_id').notNull().references(() => tags.id),
}, table => [primaryKey({ columns: [table.postId, table.tagId] })])
/** A registered junction in which two records can be linked twice. */
const reviews = sqliteTable('reviews', {
  id: integer('id').primaryKey(),
  postId: integer('post_id').notNull().references(() => posts.id),
  userId: integer('user_id').notNull().references(() => users.id),
  state: text('state').notNull(),
})

const DDL = `
  create table users (id integer primary key, name text not null, boss_id integer);
  create table posts (id integer primary key, organization_id integer not null, author_id integer, editor_id integer, ghost_id integer,
    title text not null, deleted_at integer);
  create table comments (id integer primary key, organization_id integer not null, post_id integer not null, status text not null,
    deleted_at integer);
  create table votes (id integer primary key, comment_id integer not null);
  create table secrets (id integer primary key, post_id integer);
  create table vaults (id integer primary key, post_id integer);
  create table coins (id integer primary key, vault_id integer);
  create table tags (id integer primary key, name text not null);
  create table post_tags (post_id integer not null, tag_id integer not null, primary key (post_id, tag_id));
  create table reviews (id integer primary key, post_id integer not null, user_id integer not null, state text not null);
`

const ROWS = `
  insert into users values (1, 'Ada', null), (2, 'Bob', 1), (3, 'Cid', 1), (4, 'Dan', 2);
  insert into posts values (1, 1, 1, 2, 3, 'a', null), (2, 1, 1, 2, 3, 'b', null), (3, 1, 2, null, null, 'c', null), (4, 1, 1, 1, 1, 'd', 9),
    (5, 2, 1, 1, 1, 'e', null), (6, 1, null, null, null, 'f', null);
  insert into comments values (1, 1, 1, 'open', null), (2, 1, 1, 'open', null), (3, 1, 1, 'spam', null), (4, 1, 1, 'open', 9),
    (5, 2, 1, 'open', null), (6, 1, 2, 'open', null), (7, 1, 4, 'open', null), (8, 1, 3, 'spam', null);
  insert into votes values (1, 1), (2, 1), (3, 1), (4, 3), (5, 6);
  insert into secrets values (1, 1);
  insert into vaults values (1, 1), (2, 1);
  insert into coins values (1, 1), (2, 1), (3, 2);
  insert into tags values (1, 'x'), (2, 'y'), (3, 'hidden');
  insert into post_tags values (1, 1), (1, 2), (1, 3), (2, 1), (5, 1), (5, 2), (2, 99);
  insert into reviews values (1, 1, 1, 'done'), (2, 1, 1, 'done'), (3, 1, 2, 'done'), (4, 1, 3, 'void'), (5, 2, 4, 'done');
`

const READ = { permissions: { read: true, viewDeleted: true, aggregate: true } } as const
const column = (table: object, name: string) => (table as Record<string, SQL>)[name]!

export interface CountServer extends TestServer {
  readonly client: Database.Database
  /** The statements since {@link reset}. */
  readonly sent: string[]
}

/** The caller belongs to organization 1. */
export const CALLER = { user: { id: 1, organizationId: 1 }, permissions: [] as string[], tenantId: 1 }

export async function openCounts(config: Partial<AutoApiConfig> = {}, rows = ROWS): Promise<CountServer> {
  const sent: string[] = []
  const client = new Database(':memory:')
  client.exec(DDL + rows)
  const server = await createServer({
    db: drizzle({ client, logger: { logQuery: query => sent.push(query) } }),
    modules: [{ users, posts, comments, votes, secrets, vaults, coins, tags, postTags, reviews }],
    config: {
      multiTenancy: { ...DEFAULT_MULTI_TENANCY, enabled: true, excludedResources: ['users', 'votes', 'secrets', 'vaults', 'coins', 'tags', 'reviews'] },
      m2m: { autoDetect: true, relations: { reviews: ['posts', 'users'] } },
      ...config,
    },
    registrations: [
      { name: 'users', schema: users, authorization: READ },
      { name: 'posts', schema: posts, hiddenFields: ['ghostId'], authorization: { ...READ, fields: { editorId: { read: 'editors' } } } },
      {
        name: 'comments', schema: comments,
        // Written without the name of the table, which is ambiguous as soon as another table is in the same FROM.
        authorization: {
          ...READ,
          listFilter: (_: unknown, ctx: AutoApiContext) => ctx.permissions.includes('spam') ? undefined : sql`status <> 'spam'`,
        },
      },
      { name: 'votes', schema: votes, authorization: { ...READ, objectLevel: () => true } },
      { name: 'secrets', schema: secrets, authorization: { permissions: { read: 'secrets' } } },
      { name: 'vaults', schema: vaults, authorization: { ...READ, objectLevel: row => row.id === 1 } },
      { name: 'coins', schema: coins, authorization: READ },
      { name: 'tags', schema: tags, authorization: { ...READ, listFilter: table => ne(column(table, 'name'), 'hidden') } },
      { name: 'reviews', schema: reviews, authorization: { ...READ, listFilter: table => eq(column(table, 'state'), 'done') } },
    ],
  })
  return Object.assign(server, { client, sent })
}
