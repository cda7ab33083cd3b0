/** A blog with views: statistics of each author, posts with their authors, and the days on which authors wrote. */
import Database from 'better-sqlite3'
import { count, eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, sqliteView, text } from 'drizzle-orm/sqlite-core'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import { createServer, type Answered, type Caller } from '../../support/server'

export const authors = sqliteTable('authors', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
  email: text('email').notNull(),
  organizationId: integer('organization_id').notNull(),
})

export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  views: integer('views').notNull(),
  authorId: integer('author_id').notNull().references(() => authors.id),
  publishedAt: integer('published_at', { mode: 'timestamp_ms' }),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletionId: text('deletion_id'),
})

/** Columns of tables beside expressions: a count, a sum and the newest time. */
export const authorStats = sqliteView('author_stats').as(qb =>
  qb.select({
    authorId: authors.id,
    name: authors.name,
    email: authors.email,
    organizationId: authors.organizationId,
    posts: count(posts.id).as('posts'),
    views: sql`sum(${posts.views})`.mapWith(Number).as('views'),
    latest: sql`max(${posts.publishedAt})`.mapWith(posts.publishedAt).as('latest'),
    active: sql`count(${posts.id}) > 1`.mapWith(Boolean).as('active'),
  }).from(authors).leftJoin(posts, eq(posts.authorId, authors.id)).groupBy(authors.id))

/** Its columns are declared, and its key has two of them. */
export const writingDays = sqliteView('writing_days', {
  author: integer('author').notNull(),
  day: text('day').notNull(),
  total: integer('total').notNull(),
}).as(sql`select author_id as author, date(published_at / 1000, 'unixepoch') as day, count(*) as total from posts
  where published_at is not null group by 1, 2`)

/** Rows of a left join, with the trash of its table. */
export const postList = sqliteView('post_list').as(qb =>
  qb.select({
    id: posts.id,
    title: posts.title,
    authorId: posts.authorId,
    author: sql`${authors.name}`.mapWith(authors.name).as('author'),
    deletedAt: posts.deletedAt,
    deletionId: posts.deletionId,
  }).from(posts).leftJoin(authors, eq(posts.authorId, authors.id)))

export const READ = { permissions: { read: true } } as const
const ALL = { permissions: { read: true, create: true, update: true, delete: true } } as const

export const REGISTRATIONS: Readonly<Record<string, ResourceRegistration>> = {
  authors: { name: 'authors', schema: authors, authorization: ALL },
  posts: { name: 'posts', schema: posts, authorization: ALL },
  authorStats: { name: 'authorStats', schema: authorStats, key: 'authorId', references: { authorId: 'authors' }, authorization: READ },
  writingDays: { name: 'writingDays', schema: writingDays, key: ['author', 'day'], references: { author: 'authors' }, authorization: READ },
  postList: { name: 'postList', schema: postList, key: 'id', authorization: READ },
}

const DDL = `
create table authors (id integer primary key, name text not null, email text not null, organization_id integer not null);
create table posts (id integer primary key, title text not null, views integer not null, author_id integer not null references authors(id),
  published_at integer, deleted_at integer, deletion_id text);
create view author_stats as select a.id, a.name, a.email, a.organization_id, count(p.id) as posts, sum(p.views) as views,
  max(p.published_at) as latest, count(p.id) > 1 as active from authors a left join posts p on p.author_id = a.id group by a.id;
create view writing_days as select author_id as author, date(published_at / 1000, 'unixepoch') as day, count(*) as total from posts
  where published_at is not null group by 1, 2;
create view post_list as select p.id, p.title, p.author_id, a.name as author, p.deleted_at, p.deletion_id from posts p left join authors a on a.id = p.author_id;
insert into authors values (1, 'Ada', 'ada@x.test', 1), (2, 'Bea', 'bea@x.test', 1), (3, 'Cleo', 'cleo@x.test', 2), (4, 'Dan', 'dan@x.test', 2);
insert into posts values (1, 'one', 10, 1, 1700000000000, null, null), (2, 'two', 5, 1, 1700000000000, null, null),
  (3, 'three', 7, 2, 1700100000000, null, null), (4, 'four', 0, 3, null, null, null), (5, 'gone', 1, 3, null, 1000, 'd5');
`

export const ADA: Caller = { user: { id: 1, organizationId: 1 } }

export interface Stats {
  readonly send: (method: string, path: string, body?: unknown, caller?: Caller) => Promise<Answered>
  readonly close: () => void
}

/** @param changes parts of the registrations; `false` leaves a resource out */
export async function openStats(
  changes: Readonly<Record<string, Partial<ResourceRegistration> | false>> = {},
  { config, plugins }: { readonly config?: Partial<AutoApiConfig>, readonly plugins?: readonly unknown[] } = {},
): Promise<Stats> {
  const client = new Database(':memory:')
  client.exec(DDL)
  const server = await createServer({
    db: drizzle(client),
    modules: [{ authors, posts, authorStats, writingDays, postList }],
    registrations: Object.entries({ ...REGISTRATIONS, ...changes }).flatMap(([name, changed]) =>
      changed === false ? [] : [{ ...REGISTRATIONS[name]!, ...changed }]),
    ...config && { config },
    ...plugins && { plugins },
  })
  return {
    send: (method, path, body, caller = ADA) => server.request(method, `/api/${path}`, { body, caller }),
    close: () => client.close(),
  }
}
