/** `response.reads` in `around`: the resources that a response was read from, compared with the statements that ran. */
import Database from 'better-sqlite3'
import { eq, getTableName, notExists, sql } from 'drizzle-orm'
import { alias, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ROUTES } from '../../../../src/runtime/shared/routes'
import { defineAutoApiPlugin } from '../../../../src/runtime/server/define'
import type { ResourceAuth } from '../../../../src/runtime/server/registration'
import { createServer, type TestServer } from '../../../support/server'

const authors = sqliteTable('authors', { id: integer('id').primaryKey(), name: text('name').notNull() })
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  authorId: integer('author_id').references(() => authors.id),
})
const comments = sqliteTable('comments', {
  id: integer('id').primaryKey(),
  postId: integer('post_id').references(() => posts.id),
  authorId: integer('author_id').references(() => authors.id),
})
const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
/** An unregistered junction. */
const postTags = sqliteTable('post_tags', {
  postId: integer('post_id').notNull().references(() => posts.id),
  tagId: integer('tag_id').notNull().references(() => tags.id),
}, t => [primaryKey({ columns: [t.postId, t.tagId] })])
/** A registered junction. */
const editors = sqliteTable('editors', {
  postId: integer('post_id').notNull().references(() => posts.id),
  authorId: integer('author_id').notNull().references(() => authors.id),
}, t => [primaryKey({ columns: [t.postId, t.authorId] })])
/** A table that is in no relation and that rules read. */
const bans = sqliteTable('bans', { id: integer('id').primaryKey(), authorId: integer('author_id').notNull() })
const TABLES = { authors, posts, comments, tags, postTags, editors, bans }
const NAMES: Readonly<Record<string, readonly string[]>> = {
  authors: ['authors'], posts: ['posts', 'drafts'], comments: ['comments'], tags: ['tags'], post_tags: ['table:post_tags'],
  editors: ['editors'], bans: ['bans'],
}

let client: Database.Database
let statements: string[]
let reads: (readonly string[] | undefined)[]

beforeEach(() => {
  client = new Database(':memory:')
  client.exec(`
    create table authors (id integer primary key, name text not null);
    create table posts (id integer primary key, title text not null, author_id integer references authors(id));
    create table comments (id integer primary key, post_id integer references posts(id), author_id integer references authors(id));
    create table tags (id integer primary key, name text not null);
    create table post_tags (post_id integer not null, tag_id integer not null, primary key (post_id, tag_id));
    create table editors (post_id integer not null, author_id integer not null, primary key (post_id, author_id));
    create table bans (id integer primary key, author_id integer not null);
    insert into authors values (1, 'Ann'), (2, 'Ben');
    insert into posts values (1, 'first', 1), (2, 'second', 2);
    insert into comments values (1, 1, 2), (2, 2, 1);
    insert into tags values (1, 'red'), (2, 'blue');
    insert into post_tags values (1, 1), (1, 2), (2, 1);
    insert into editors values (1, 2), (2, 1);
  `)
  statements = []
  reads = []
})
afterEach(() => client.close())

const recorder = defineAutoApiPlugin({
  name: 'recorder',
  around: async (_ctx, next) => {
    const response = await next()
    reads.push(response.reads)
    return response
  },
})

function open(rules: Readonly<Record<string, ResourceAuth>> = {}): Promise<TestServer> {
  const authorization = (name: string): ResourceAuth => ({
    permissions: { read: true, create: true, update: true, delete: true },
    ...rules[name],
  })
  return createServer({
    db: drizzle({ client, logger: { logQuery: text => void statements.push(text) } }),
    modules: [TABLES],
    registrations: [
      ...(['authors', 'posts', 'comments', 'tags', 'editors', 'bans'] as const).map(name => ({
        name,
        schema: TABLES[name],
        authorization: authorization(name),
      })),
      { name: 'drafts', schema: posts, authorization: authorization('drafts') },
    ],
    plugins: [recorder],
    config: { filters: { extended: true } },
  })
}

/** The names of all tables in the statements that ran. */
function tablesRead(): string[] {
  const tables = Object.values(TABLES).map(getTableName).filter(table => statements.some(text => new RegExp(`\\b${table}\\b`).test(text)))
  return tables.flatMap(table => NAMES[table]!)
}

async function read(server: TestServer, path: string): Promise<readonly string[]> {
  statements = []
  reads = []
  const { status, text } = await server.request('GET', `/api${path}`)
  expect([status, text]).toEqual([200, expect.anything()])
  expect(reads).toHaveLength(1)
  return reads[0]!
}

/** Every route that reads records, with its root and with includes. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  list: [
    '/tags',
    '/posts?include=author',
    '/posts?include=comments.author,tags',
    '/posts?groupBy=title&aggregate=count',
    '/posts?limit=1&cursor=',
    '/posts?include={"authors":{"include":{"comments":true}}}',
    '/posts?aggregate=count&fields=id',
    '/posts?filter={"author":{"name":"Ann"}}',
    '/authors?filter={"$or":[{"id":1},{"posts":{"tags":{"name":"red"}}},{"comments":null}]}',
    '/authors?include={"posts":{"filter":{"authors":{"id":1}}}}',
    '/posts?filter={"tags":{"$count":{"$gte":1}},"comments":{"$count":1}}',
    '/authors?filter={"$not":{"posts":{"tags":{"$count":0}}}}',
    '/posts?counts=tags,comments,authors',
    '/posts?sort=author.name,-tags.$count',
    '/comments?sort=-post.author.name&limit=1&cursor=',
    '/authors?include={"posts":{"sort":"comments.$count"}}',
    '/comments?include=post{counts:tags}&counts=',
  ],
  get: ['/tags/1', '/tags/1?counts=posts', '/posts/1?include=author', '/posts/1?include=tags,comments.post'],
  aggregate: [
    '/posts/aggregate?aggregate=count',
    '/comments/aggregate?groupBy=authorId&aggregate=count',
    '/comments/aggregate?filter={"post":{"tags":{"id":1}}}',
    '/comments/aggregate?filter={"post":{"tags":{"$count":1}}}',
  ],
  related: [
    '/posts/1/relations/tags',
    '/posts/1/relations/tags?metadata=true',
    '/posts/1/relations/comments?include=author',
    '/authors/1/relations/posts',
    '/authors/1/relations/posts?counts=tags',
    '/authors/1/relations/posts?sort=tags.$count',
  ],
}

describe('the reads of a response', () => {
  it('are tested for every route that reads records', () => {
    const routes = ROUTES.filter(({ operation }) => operation === 'read' || operation === 'aggregate').map(({ name }) => name)
    expect(Object.keys(PATHS).sort()).toEqual([...routes].sort())
  })

  it.each(Object.values(PATHS).flat())('are the tables of all statements for %s', async (path) => {
    const server = await open()
    const found = await read(server, path)
    expect([...found].sort()).toEqual(tablesRead().sort())
    // The same statements come from the cache now.
    expect(await read(server, path)).toEqual(found)
  })

  it('contain included resources even if no row had to be read from them', async () => {
    const server = await open()
    client.exec('pragma foreign_keys = off; delete from posts')
    expect(await read(server, '/posts?include=comments,tags')).toEqual(['posts', 'drafts', 'comments', 'tags', 'table:post_tags'])
  })

  it('contain every resource of a table, because a change names only one of them', async () => {
    expect(await read(await open(), '/drafts')).toEqual(['posts', 'drafts'])
  })

  it.each<[how: string, rule: ResourceAuth]>([
    [
      'Drizzle SQL',
      { listFilter: table => sql`not exists (select 1 from ${bans} where ${bans.authorId} = ${(table as typeof posts).authorId})` },
    ],
    [
      'a subquery of the query builder',
      {
        listFilter: table =>
          notExists(
            drizzle({ client })
              .select()
              .from(bans)
              .where(eq(bans.authorId, (table as typeof posts).authorId)),
          ),
      },
    ],
    [
      'an alias',
      {
        listFilter: () => {
          const b = alias(bans, 'b')
          return notExists(drizzle({ client }).select({ id: b.id }).from(b).where(eq(b.authorId, 99)))
        },
      },
    ],
    ['SQL text', { listFilter: () => sql.raw('not exists (select 1 from BANS where author_id = 99)') }],
  ])('contain the tables that a row filter reads by %s', async (_how, rule) => {
    const server = await open({ posts: rule, comments: rule })
    expect(await read(server, '/posts')).toEqual(['posts', 'drafts', 'bans'])
    expect(await read(server, '/authors?include=comments')).toEqual(['authors', 'comments', 'bans'])
    expect(await read(server, '/authors?filter={"comments":null}')).toEqual(['authors', 'comments', 'bans'])
    expect(await read(server, '/authors?filter={"comments":{"$count":1}}')).toEqual(['authors', 'comments', 'bans'])
    expect(await read(server, '/authors?counts=comments')).toEqual(['authors', 'comments', 'bans'])
    expect(await read(server, '/authors?sort=comments.$count')).toEqual(['authors', 'comments', 'bans'])
    expect(await read(server, '/authors')).toEqual(['authors'])
  })

  it('are absent from the response of a write', async () => {
    const server = await open()
    reads = []
    expect((await server.request('POST', '/api/tags', { body: { name: 'green' } })).status).toBe(201)
    expect((await server.request('DELETE', '/api/tags/2')).status).toBe(200)
    expect(reads).toEqual([undefined, undefined])
  })
})
