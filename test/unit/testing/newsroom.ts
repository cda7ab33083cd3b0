/** A small app on SQLite, with its rules, and the mistakes that a test can plant in them. */
import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'
import { and, eq, exists, inArray, ne, or, sql, type SQL } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { createError } from 'h3'
import { integer, primaryKey, QueryBuilder, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { defineAutoApiPlugin, type AutoApiContext, type ResourceAuth } from '../../../src/runtime/server/define'
import { apiTokens as tokensPlugin } from '../../../src/runtime/plugins'
import { createTokenFormat } from '../../../src/runtime/plugins/api-tokens/server/format'
import { apiTokensTable, softDelete, tenant } from '../../../src/runtime/plugins/schema-sqlite'
import type { AutoApiPlugin } from '../../../src/runtime/server/plugin/contract'
import { createTestApi, type LocalTestApi } from '../../../src/runtime/testing'

export const users = sqliteTable('users', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  ...tenant(),
  name: text('name').notNull(),
  salary: integer('salary'),
  passwordHash: text('password_hash'),
})
export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  ...tenant(),
  authorId: integer('author_id').references(() => users.id),
  title: text('title').notNull(),
  status: text('status', { enum: ['draft', 'published'] }).notNull().default('draft'),
  margin: integer('margin'),
  approvedBy: text('approved_by'),
  ...softDelete(),
}, table => [uniqueIndex('post_titles').on(table.organizationId, table.title)])
export const comments = sqliteTable('comments', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  ...tenant(),
  postId: integer('post_id').notNull().references(() => posts.id),
  body: text('body').notNull(),
  flagged: integer('flagged', { mode: 'boolean' }).notNull().default(false),
})
export const tags = sqliteTable('tags', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  name: text('name').notNull(),
})
export const postTags = sqliteTable('post_tags', {
  postId: integer('post_id').notNull().references(() => posts.id),
  tagId: integer('tag_id').notNull().references(() => tags.id),
  internal: integer('internal', { mode: 'boolean' }).notNull().default(false),
}, table => [primaryKey({ columns: [table.postId, table.tagId] })])
export const apiTokens = apiTokensTable()

const SQL_TEXT = `
create table users (id integer primary key autoincrement, organization_id integer not null, name text not null, salary integer, password_hash text);
create table posts (id integer primary key autoincrement, organization_id integer not null, author_id integer references users (id), title text not null,
  status text not null default 'draft', margin integer, approved_by text, deleted_at integer, deleted_by integer, deletion_id text, deleted_reason text);
create table comments (id integer primary key autoincrement, organization_id integer not null, post_id integer not null references posts (id), body text not null, flagged integer not null default 0);
create table tags (id integer primary key autoincrement, name text not null);
create table post_tags (post_id integer not null references posts (id), tag_id integer not null references tags (id), internal integer not null default 0, primary key (post_id, tag_id));
create table api_tokens (id text primary key, name text not null, user_id text not null, organization_id text, scopes text, start text not null, token_hash text not null unique,
  previous_hash text unique, previous_until integer, expires_at integer, last_used_at integer, created_at integer not null, updated_at integer not null, deleted_at integer, deleted_by text, deletion_id text);
insert into users values (1, 1, 'Rita', 41001, 'hash-rita'), (2, 1, 'Anna', 52002, 'hash-anna'), (3, 1, 'Edgar', 63003, 'hash-edgar'), (4, 2, 'Stan', 74004, 'hash-stan');
insert into posts (id, organization_id, author_id, title, status, margin, deleted_at, deletion_id) values
  (1, 1, 2, 'Published by Anna', 'published', 11011, null, null), (2, 1, 2, 'Draft of Anna', 'draft', 12012, null, null), (3, 1, 3, 'Draft of Edgar', 'draft', 13013, null, null),
  (4, 2, 4, 'Published elsewhere', 'published', 14014, null, null), (5, 1, 2, 'In the trash', 'published', 15015, 1700000000000, 'd1'), (6, 1, 2, 'Embargoed', 'published', 16016, null, null),
  (7, 1, 3, 'Published by Edgar', 'published', 17017, null, null);
insert into comments values (1, 1, 1, 'visible', 0), (2, 1, 3, 'on a draft', 0), (3, 1, 1, 'flagged words', 1), (4, 2, 4, 'elsewhere', 0);
insert into tags values (1, 'news'), (2, 'plans');
insert into post_tags values (1, 1, 0), (1, 2, 1), (3, 2, 0);
`

export const ROWS = {
  apiTokens: { ofAnna: 'token-1' },
  comments: { visible: 1, onDraft: 2, flagged: 3, otherTenant: 4 },
  postTags: { visible: [1, 1], internal: [1, 2], ofDraft: [3, 2] },
  posts: { published: 1, ofAnna: 2, ofEdgar: 3, otherTenant: 4, trashed: 5, embargoed: 6, byEdgar: 7 },
  tags: { news: 1, plans: 2 },
  users: { reader: 1, author: 2, editor: 3, otherTenant: 4 },
} as const

const TOKEN = createTokenFormat('aat').create()
const TOKEN_HASH = createHash('sha256').update(TOKEN).digest('hex')

const signedIn = (ctx: AutoApiContext) => ctx.user !== null
const nothing = sql`1 = 0`

/** Each mistake changes one rule of the app, and one resource shows it. Without a resource, only the matrix of the whole app shows it. */
export const MISTAKES = {
  'listFilter is dropped': 'posts',
  'listFilter forgets the operation': 'posts',
  'update is true': 'posts',
  'delete is true': 'posts',
  'purge falls back to delete': 'posts',
  'restore is true': 'posts',
  'viewDeleted is true': 'posts',
  'aggregate is public': 'users',
  'a permission is misspelled': 'posts',
  'the tenant column is forgotten': 'posts',
  'multi-tenancy is off': 'users',
  'the rule of a field is dropped': 'users',
  'the write rule of a field is dropped': 'posts',
  'hiddenFields is dropped': 'users',
  'protectedFields is dropped': 'posts',
  'objectLevel is dropped': 'comments',
  'disabled is dropped': 'tags',
  'the rows of a plugin are dropped': 'posts',
  'the scopes of a token are ignored': 'tags',
  'an endpoint is open': 'posts',
  'a named gate is dropped': 'posts',
  'the rules of a junction are missing': 'postTags',
  'the rows of a junction are not filtered': 'tags',
  'the rows of a parent are not checked': 'comments',
  'a plugin sends rows around the rules': 'posts',
  'a route of a plugin is open': undefined,
  'a resource is forgotten': undefined,
} as const

/** The other mistakes disclose something without giving access, so no matrix shows them. */
export type Mistake = keyof typeof MISTAKES | 'a hook copies a hidden value' | 'a hook counts hidden rows' | 'a foreign key accepts hidden rows'
  | 'an endpoint looks for the row first' | 'a plugin looks for the key first' | 'a plugin looks for the child first' | 'a unique constraint forgets the tenant'

interface More {
  readonly plugins?: (client: Database.Database) => readonly AutoApiPlugin[]
  /** Further parts of the registration of `posts`. */
  readonly posts?: object
  readonly resources?: LocalTestApi['resources']
  /** Creates further tables. */
  readonly tables?: string
}

export async function openNewsroom(mistake?: Mistake, more: More = {}) {
  const has = (name: Mistake) => name === mistake
  const unless = <T extends object>(name: Mistake, part: T): Partial<T> => has(name) ? {} : part
  const client = new Database(':memory:')
  const reset = () => {
    client.pragma('foreign_keys = off')
    const names = client.prepare('select name from sqlite_master where type = \'table\' and name not like \'sqlite_%\'').all() as {
      name: string
    }[]
    for (const { name } of names) client.exec(`drop table ${name}`)
    client.exec(SQL_TEXT + (more.tables ?? ''))
    client.exec(
      `create unique index post_titles on posts (${has('a unique constraint forgets the tenant') ? 'title' : 'organization_id, title'})`,
    )
    client
      .prepare(
        'insert into api_tokens (id, name, user_id, organization_id, scopes, start, token_hash, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      )
      .run('token-1', 'deploy', '2', '1', has('the scopes of a token are ignored') ? null : '["posts:read"]', 'aat_test', TOKEN_HASH, 0, 0)
    client.pragma('foreign_keys = on')
  }
  reset()
  const db = drizzle({ client })

  const postsFilter = (table: typeof posts, ctx: AutoApiContext, operation = ctx.operation): SQL | undefined => {
    if (ctx.permissions.includes('posts:edit')) return undefined
    const own = ctx.user ? eq(table.authorId, Number(ctx.user.id)) : nothing
    return ['read', 'aggregate', 'viewDeleted'].includes(operation) || has('listFilter forgets the operation')
      ? or(eq(table.status, 'published'), own)
      : own
  }
  const postsAuth: ResourceAuth<typeof posts> = {
    permissions: {
      read: true,
      create: has('a permission is misspelled') ? 'post:write' : 'posts:write',
      update: has('update is true') ? true : 'posts:write',
      delete: has('delete is true') ? true : 'posts:write',
      restore: has('restore is true') ? true : 'posts:write',
      ...unless('purge falls back to delete', { purge: 'posts:edit' }),
      viewDeleted: has('viewDeleted is true') ? true : 'posts:edit',
    },
    ...unless('listFilter is dropped', { listFilter: postsFilter }),
    fields: { margin: { read: 'posts:edit', ...unless('the write rule of a field is dropped', { write: 'posts:edit' }) } },
    ...unless('a named gate is dropped', { custom: { publish: { permissions: { update: 'posts:edit' } } } }),
  }
  const usersAuth: ResourceAuth<typeof users> = {
    permissions: { read: signedIn, update: 'users:manage', aggregate: has('aggregate is public') ? true : 'users:manage' },
    ...unless('the rule of a field is dropped', { fields: { salary: { read: 'users:manage', write: 'users:manage' } } }),
  }
  const commentsAuth: ResourceAuth<typeof comments> = {
    fields: has('a foreign key accepts hidden rows') ? { postId: { reference: 'any' } } : {},
    permissions: { read: true, create: signedIn, delete: 'posts:edit' },
    listFilter: (table, ctx) => has('the rows of a parent are not checked')
      ? undefined
      : exists(new QueryBuilder().select({ id: posts.id }).from(posts)
          .where(and(eq(posts.id, table.postId), postsFilter(posts, ctx, 'read')))),
    objectLevel: (row, ctx) => has('objectLevel is dropped') || !row.flagged || ctx.permissions.includes('posts:edit'),
  }
  const postTagsAuth: ResourceAuth<typeof postTags> = {
    permissions: has('the rules of a junction are missing')
      ? { read: true, create: true, delete: true }
      : { read: true, create: 'posts:edit', delete: 'posts:edit' },
    ...unless('the rows of a junction are not filtered', {
      listFilter: (table: typeof postTags, ctx: AutoApiContext) =>
        ctx.permissions.includes('posts:edit') ? undefined : eq(table.internal, false),
    }),
  }
  const plugins = [
    ...more.plugins?.(client) ?? [],
    tokensPlugin({ findUser: id => USERS[Number(id)] ?? null, failures: { limit: 1_000_000 } } as Parameters<typeof tokensPlugin>[0]),
    defineAutoApiPlugin({
      name: 'titles',
      around: async (_ctx, next, { route, request }) => {
        if (route === 'update' && has('a plugin looks for the child first')) {
          const { comments = {} } = await request.body() as { readonly comments?: { readonly delete?: readonly number[] } }
          const [id] = comments.delete ?? []
          if (client.prepare('select 1 from comments where id = ?').get(id ?? 0)) throw createError({ statusCode: 409, message: 'Read only.' })
        }
        if (route !== 'upsert' || !has('a plugin looks for the key first')) return next()
        const { title } = await request.body() as { readonly title: string }
        if (client.prepare('select 1 from posts where title = ?').get(title)) throw createError({ statusCode: 403, message: 'Taken.' })
        return next()
      },
    }),
    defineAutoApiPlugin({
      name: 'embargo',
      rows: has('the rows of a plugin are dropped')
        ? {}
        : { posts: (table, ctx) => (ctx.permissions.includes('posts:edit') ? undefined : ne((table as typeof posts).title, 'Embargoed')) },
      routes: [
        has('a route of a plugin is open')
          ? { method: 'GET', path: '/headlines', handler: () => ({ titles: [] }) }
          : {
              method: 'GET',
              path: '/headlines',
              handler: (ctx) => {
                if (ctx.user) return { titles: [] }
                throw createError({ statusCode: 401, message: 'Sign in.' })
              },
            },
        ...(has('a plugin sends rows around the rules')
          ? [
              {
                method: 'GET' as const,
                path: '/:resource/archive',
                resources: ['posts'],
                operation: 'read' as const,
                handler: () =>
                  db
                    .select()
                    .from(posts)
                    .where(inArray(posts.id, [3])),
              },
            ]
          : []),
      ],
    }),
  ]
  const api = await createTestApi({
    resources: {
      users: { schema: users, authorization: usersAuth, ...unless('hiddenFields is dropped', { hiddenFields: ['passwordHash'] }) },
      posts: {
        schema: posts,
        authorization: postsAuth,
        nested: { comments: ['create', 'delete'], tags: ['link', 'unlink'] },
        ...more.posts,
        ...unless('protectedFields is dropped', { protectedFields: ['approvedBy'] }),
        ...(has('a hook counts hidden rows') && {
          hooks: {
            afterGet: (record: object) => '_count' in record ? { ...record, _count: { tags: 2 } } : record,
          },
        }),
        ...(has('a hook copies a hidden value') && {
          hooks: {
            afterGet: (record: object) => ({
              ...record,
              title: `Margin: ${client
                .prepare('select margin from posts where id = ?')
                .pluck()
                .get((record as { id: number }).id)}`,
            }),
          },
        }),
      },
      comments: { schema: comments, authorization: commentsAuth },
      tags: {
        schema: tags,
        authorization: { permissions: { read: true, create: true } },
        disabled: has('disabled is dropped') ? [] : ['create'],
      },
      postTags: { schema: postTags, authorization: postTagsAuth },
      apiTokens: { schema: apiTokens, authorization: { permissions: { read: signedIn, create: signedIn, delete: signedIn } } },
      ...more.resources,
      ...(has('a resource is forgotten') && { drafts: { schema: posts, authorization: { permissions: { read: true } } } }),
    },
    database: db,
    engine: 'better-sqlite3',
    plugins,
    multiTenancy: !has('multi-tenancy is off') && (has('the tenant column is forgotten') ? { excludedResources: ['posts'] } : {}),
    endpoints: async () => {
      const { assertPermission, createEndpoint, findAuthorizedRow } = await import('../../../src/runtime/server/utils')
      return {
        'POST /api/posts/:id/publish': createEndpoint({
          ...(has('an endpoint is open') || has('an endpoint looks for the row first')
            ? {}
            : { resource: 'posts', operation: 'update', ...unless('a named gate is dropped', { endpointName: 'publish' }) }),
          async handler(ctx) {
            const id = Number(ctx.params.id)
            if (has('an endpoint looks for the row first')) {
              if (!db.select().from(posts).where(eq(posts.id, id)).get())
                throw createError({ statusCode: 404, message: 'There is no post.' })
              await assertPermission(ctx as AutoApiContext, 'posts', 'update')
            }
            if (!has('an endpoint is open')) await findAuthorizedRow<typeof posts>(ctx as AutoApiContext, 'posts', ctx.params.id!)
            db.update(posts).set({ status: 'published' }).where(eq(posts.id, id)).run()
            return { published: id }
          },
        }),
      }
    },
    callers: {
      anonymous: { tenantId: 1 },
      reader: USERS[1]!.caller,
      author: USERS[2]!.caller,
      editor: USERS[3]!.caller,
      stranger: USERS[4]!.caller,
      token: { headers: { authorization: `Bearer ${TOKEN}` } },
    },
    reset,
  })
  const dump = () =>
    client
      .prepare('select name from sqlite_master where type = \'table\' order by name')
      .pluck()
      .all()
      .map(name => [name, client.prepare(`select * from ${String(name)}`).all()])
  return { api, client, reset, dump }
}

const user = (id: number, organizationId: number, permissions: string[]) =>
  ({ id, organizationId, permissions, get caller() { return { user: { id, organizationId }, permissions } } })

const USERS: Readonly<Record<number, ReturnType<typeof user>>> = {
  1: user(1, 1, []),
  2: user(2, 1, ['posts:write']),
  3: user(3, 1, ['posts:write', 'posts:edit', 'users:manage']),
  4: user(4, 2, ['posts:write', 'posts:edit', 'users:manage']),
}
